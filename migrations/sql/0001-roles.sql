-- Rights go to roles without a login, one for each service; a deployment grants them to its login users, such as
--   CREATE USER gateway_1 PASSWORD '...' IN ROLE vitrine_gateway;
-- Roles belong to the server, not the database: another database of it may have made them.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['vitrine_migrations', 'vitrine_gateway', 'vitrine_trace_writer', 'vitrine_operator'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL; -- A migration of another database was faster.
    END;
  END LOOP;
  -- The owner of everything; whoever migrates acts as it. A user that created it may only then become it (PostgreSQL 16 and later).
  IF NOT pg_has_role(current_user, 'vitrine_migrations', 'MEMBER') OR NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT vitrine_migrations TO %I', current_user);
  END IF;
END
$$;

GRANT USAGE, CREATE ON SCHEMA public TO vitrine_migrations;
GRANT USAGE ON SCHEMA public TO vitrine_gateway, vitrine_trace_writer, vitrine_operator;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- The next user that migrates may be another one.
ALTER TABLE schema_migrations OWNER TO vitrine_migrations;
GRANT SELECT ON schema_migrations TO vitrine_gateway, vitrine_trace_writer, vitrine_operator;
