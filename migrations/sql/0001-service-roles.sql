-- Rights are granted to one role per service, none of which can log in. A deployment grants them to its login users, such as
--   CREATE USER gateway_1 PASSWORD '...' IN ROLE vitrine_gateway;
-- Roles belong to the server: a migration of another database may have created them, or may create them at the same time.
DO $$
DECLARE
  role_name text;
BEGIN
  FOREACH role_name IN ARRAY ARRAY['vitrine_migrations', 'vitrine_gateway', 'vitrine_trace_writer', 'vitrine_operator', 'vitrine_store_api', 'vitrine_enrich'] LOOP
    BEGIN
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role_name) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role_name);
      END IF;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END LOOP;
  -- vitrine_migrations owns every table and function. Migrations run as this role. Since PostgreSQL 16 the user that creates a role cannot use
  -- it without this grant.
  IF NOT pg_has_role(current_user, 'vitrine_migrations', 'MEMBER') OR NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
    EXECUTE format('GRANT vitrine_migrations TO %I', current_user);
  END IF;
END
$$;

GRANT USAGE, CREATE ON SCHEMA public TO vitrine_migrations;
GRANT USAGE ON SCHEMA public TO vitrine_gateway, vitrine_trace_writer, vitrine_operator, vitrine_store_api, vitrine_enrich;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;

-- Another user may run the next migration.
ALTER TABLE schema_migrations OWNER TO vitrine_migrations;
COMMENT ON TABLE schema_migrations IS 'the migrations that ran';
GRANT SELECT ON schema_migrations TO vitrine_gateway, vitrine_trace_writer, vitrine_operator, vitrine_store_api, vitrine_enrich;
