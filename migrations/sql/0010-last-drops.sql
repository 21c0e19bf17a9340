SET ROLE vitrine_migrations;

ALTER TABLE writer_statistics
  ADD COLUMN last_dropped_at timestamptz(3),
  ADD COLUMN last_dropped_by text COLLATE "C";
COMMENT ON COLUMN writer_statistics.last_dropped_by IS 'operation and error_class of the last dropped trace, such as write_trace timeout';

RESET ROLE;
