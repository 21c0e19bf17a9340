SET ROLE vitrine_migrations;

-- One row: a process that begins to lead takes the next epoch, and every transaction in which a leader writes holds the row FOR SHARE with
-- its own epoch in it. So what a former leader had begun is committed before, or not at all.
CREATE TABLE operator_leadership (
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only),
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  taken_at timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO operator_leadership DEFAULT VALUES;

-- Of keys that a GatewayKey resource owns. While a token is rotated, the next one is accepted before it is published, and the previous one
-- until its time.
ALTER TABLE gateway_keys
  ADD COLUMN owner_uid text COLLATE "C",
  ADD COLUMN next_pepper_version integer,
  ADD COLUMN next_token_mac bytea,
  ADD COLUMN previous_pepper_version integer,
  ADD COLUMN previous_token_mac bytea,
  ADD COLUMN previous_until timestamptz(3);
COMMENT ON COLUMN gateway_keys.owner_uid IS 'of the GatewayKey resource: nothing else may change or revoke the row';

-- A key whose next token becomes its token, or whose row somebody deleted and the operator made again, has had that token before.
CREATE OR REPLACE FUNCTION keep_token_hash() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM public.token_hashes WHERE token_mac = NEW.token_mac AND key_id = NEW.id) THEN
    INSERT INTO public.token_hashes VALUES (NEW.token_mac, NEW.pepper_version, NEW.id);
  END IF;
  RETURN NULL;
END
$$;
CREATE FUNCTION keep_next_token_hash() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  INSERT INTO public.token_hashes VALUES (NEW.next_token_mac, NEW.next_pepper_version, NEW.id);
  RETURN NULL;
END
$$;
CREATE TRIGGER gateway_keys_staged AFTER UPDATE OF next_token_mac ON gateway_keys FOR EACH ROW
  WHEN (NEW.next_token_mac IS NOT NULL AND NEW.next_token_mac IS DISTINCT FROM OLD.next_token_mac)
  EXECUTE FUNCTION keep_next_token_hash();

GRANT SELECT, UPDATE ON operator_leadership TO vitrine_operator;

RESET ROLE;
