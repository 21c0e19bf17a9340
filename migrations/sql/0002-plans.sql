SET ROLE vitrine_migrations;

CREATE TABLE plans (
  name text COLLATE "C" NOT NULL PRIMARY KEY,
  limits jsonb NOT NULL,
  updated_at timestamptz(3) NOT NULL DEFAULT now()
);
COMMENT ON TABLE plans IS 'one row per PlanLimits resource, written by the operator';
COMMENT ON COLUMN plans.limits IS
  'as the spec of a PlanLimits resource: the limits of the store API, included, and the thresholds of the gateway under gateway';

CREATE TABLE workspace_plans (
  org_id text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  plan text COLLATE "C" NOT NULL REFERENCES plans (name),
  PRIMARY KEY (org_id, workspace_id)
);
CREATE INDEX workspace_plans_by_plan ON workspace_plans (plan);
COMMENT ON TABLE workspace_plans IS 'the plan of each workspace of the gateway that has one';

-- The row is locked until the change is committed, so generations are committed in order.
CREATE TABLE plan_generation (
  generation bigint NOT NULL DEFAULT 0,
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO plan_generation DEFAULT VALUES;
COMMENT ON TABLE plan_generation IS
  'one row: a number that rises with every change of plans and workspace_plans; services poll it where notifications do not reach them';

-- Triggers raise the generation, so that no program can forget it. Deletion of a plan is a change too, which no column of plans could show.
CREATE FUNCTION raise_plan_generation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  UPDATE public.plan_generation SET generation = generation + 1;
  RETURN NULL;
END
$$;
CREATE FUNCTION notify_plan_generation() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
  PERFORM pg_notify('plans', ''); -- Equal notifications of a transaction are sent once.
  RETURN NULL;
END
$$;
CREATE TRIGGER plans_changed AFTER INSERT OR DELETE ON plans FOR EACH ROW EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER plans_updated AFTER UPDATE ON plans FOR EACH ROW
  WHEN (NEW.name <> OLD.name OR NEW.limits <> OLD.limits) EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER workspace_plans_changed AFTER INSERT OR DELETE ON workspace_plans FOR EACH ROW EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER workspace_plans_updated AFTER UPDATE ON workspace_plans FOR EACH ROW
  WHEN (NEW.* IS DISTINCT FROM OLD.*) EXECUTE FUNCTION raise_plan_generation();
CREATE TRIGGER plan_generation_raised AFTER UPDATE ON plan_generation FOR EACH ROW EXECUTE FUNCTION notify_plan_generation();

GRANT SELECT ON plans, workspace_plans, plan_generation TO vitrine_gateway;
GRANT SELECT ON plans TO vitrine_store_api;
GRANT SELECT, INSERT, UPDATE, DELETE ON plans, workspace_plans TO vitrine_operator;
GRANT SELECT, UPDATE ON plan_generation TO vitrine_operator;

RESET ROLE;
