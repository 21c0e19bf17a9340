SET ROLE vitrine_migrations;

-- Packed rows are by provider for each tenant as well. What an older version packs has no such rows and leaves these columns as they are; the
-- trigger sets them to false after every batch that adds to the hour.
ALTER TABLE trace_hours
  ADD COLUMN hour_is_packed_by_provider boolean NOT NULL DEFAULT false,
  ADD COLUMN day_is_packed_by_provider boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN trace_hours.hour_is_packed_by_provider IS 'trace_sums_packed_hour has all of its traces by provider for each tenant';
COMMENT ON COLUMN trace_hours.day_is_packed_by_provider IS 'trace_sums_packed_day has all of its traces by provider for each tenant';
CREATE OR REPLACE FUNCTION forget_packed_sums() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  NEW.hour_is_packed := false;
  NEW.day_is_packed := false;
  NEW.hour_is_packed_by_provider := false;
  NEW.day_is_packed_by_provider := false;
  RETURN NEW;
END
$$;

RESET ROLE;
