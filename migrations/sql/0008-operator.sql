SET ROLE vitrine_migrations;

-- A process that begins to lead takes the next epoch, and every transaction in which a leader writes locks the row FOR SHARE with its own epoch
-- in it. So what a former leader had begun is committed before, or not at all.
CREATE TABLE operator_leadership (
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only),
  epoch bigint NOT NULL DEFAULT 0,
  holder text NOT NULL DEFAULT '',
  taken_at timestamptz(3) NOT NULL DEFAULT now()
);
INSERT INTO operator_leadership DEFAULT VALUES;
COMMENT ON TABLE operator_leadership IS 'one row: the operator process that leads, and how often the leader has changed';

GRANT SELECT, UPDATE ON operator_leadership TO vitrine_operator;

RESET ROLE;
