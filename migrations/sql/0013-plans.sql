SET ROLE vitrine_migrations;

-- One row: a number that rises with every change of plans and of workspaces' plans. Its row is locked until the change is committed, so
-- generations are committed in order. Services poll it where notifications do not reach them.
CREATE TABLE plan_generation (
  generation bigint NOT NULL DEFAULT 0,
  is_only boolean NOT NULL DEFAULT true PRIMARY KEY CHECK (is_only)
);
INSERT INTO plan_generation DEFAULT VALUES;

-- A trigger does it, so that no program can forget it. Deletion of a plan is a change too, which no column of plans could show.
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

COMMENT ON COLUMN plans.limits IS
  'as the spec of a PlanLimits resource: the limits of the store API, included, and the thresholds of the gateway under gateway';

-- Who asks whether a plan is in use reads only the keys that have one.
CREATE INDEX gateway_keys_by_plan ON gateway_keys (plan) WHERE plan IS NOT NULL AND revoked_at IS NULL;
CREATE INDEX workspace_plans_by_plan ON workspace_plans (plan);

-- A service that takes plans needs SELECT on plans, workspace_plans and plan_generation.
GRANT SELECT ON plan_generation TO vitrine_gateway;
GRANT SELECT, UPDATE ON plan_generation TO vitrine_operator;

RESET ROLE;
