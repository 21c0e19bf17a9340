import type { Queryable } from '@vitrine/postgres/connection';

// The catalogue as SQL, in a fixed order and the same on PostgreSQL 15 to 18: pg_dump's text differs between versions. Excludes
// everything that depends on the server or on the day: compression (lz4 is not built in everywhere) and the partitions of days.

const TABLES = `
  SELECT c.relname AS name, format(E'CREATE %sTABLE %I (\\n%s\\n)%s;', CASE c.relpersistence WHEN 'u' THEN 'UNLOGGED ' END, c.relname,
    (SELECT string_agg('  ' || line, E',\\n' ORDER BY part, place, line) FROM (
      SELECT 1 AS part, a.attnum::int AS place, concat_ws(' ', quote_ident(a.attname), format_type(a.atttypid, a.atttypmod),
        CASE WHEN l.collname <> 'default' THEN format('COLLATE %I', l.collname) END,
        CASE WHEN a.attnotnull THEN 'NOT NULL' END,
        CASE a.attidentity WHEN 'a' THEN 'GENERATED ALWAYS AS IDENTITY' END,
        'DEFAULT ' || pg_get_expr(d.adbin, d.adrelid)) AS line
      FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      UNION ALL
      SELECT 2, 0, format('CONSTRAINT %I %s', k.conname, pg_get_constraintdef(k.oid))
      FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype IN ('p', 'u', 'c', 'f')) AS lines),
    concat(' PARTITION BY ' || pg_get_partkeydef(c.oid), ' WITH (' || array_to_string(c.reloptions, ', ') || ')')) AS text
  FROM pg_class c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`;

const PARTITIONS = `
  SELECT c.relname AS name, format('CREATE TABLE %I PARTITION OF %s %s;', c.relname, i.inhparent::regclass,
    pg_get_expr(c.relpartbound, c.oid)) AS text
  FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relispartition AND c.relname !~ '_\\d{6,8}$'`;

const INDEXES = `
  SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) || ';' AS text
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  WHERE c.relnamespace = 'public'::regnamespace AND NOT c.relispartition
    AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid)`;

const FUNCTIONS = `
  SELECT p.proname AS name, pg_get_functiondef(p.oid) || ';' AS text FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`;

const TRIGGERS = `
  SELECT t.tgname AS name, pg_get_triggerdef(t.oid) || ';' AS text
  FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace`;

const TABLE_COMMENTS = `
  SELECT c.relname AS name, format('COMMENT ON TABLE %I IS %L;', c.relname, d.description) AS text
  FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass AND d.objsubid = 0
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')`;

const COLUMN_COMMENTS = `
  SELECT format('%s.%s', c.relname, a.attname) AS name, format('COMMENT ON COLUMN %I.%I IS %L;', c.relname, a.attname, d.description) AS text
  FROM pg_description d JOIN pg_class c ON c.oid = d.objoid AND d.classoid = 'pg_class'::regclass
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.objsubid
  WHERE c.relnamespace = 'public'::regnamespace`;

const OWNERS = `
  SELECT c.relname AS name, format('ALTER TABLE %I OWNER TO %I;', c.relname, pg_get_userbyid(c.relowner)) AS text
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND c.relname !~ '_\\d{6,8}$'`;

const FUNCTION_OWNERS = `
  SELECT p.oid::regprocedure::text AS name, format('ALTER FUNCTION %s OWNER TO %I;', p.oid::regprocedure, pg_get_userbyid(p.proowner)) AS text
  FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace`;

/** Day partitions with another owner than the table, which the dropping functions could not drop. */
const STRAY_PARTITIONS = `
  SELECT c.relname AS name, format('ALTER TABLE %I OWNER TO %I;', c.relname, pg_get_userbyid(c.relowner)) AS text
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_class parent ON parent.oid = i.inhparent
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND c.relname ~ '_\\d{6,8}$' AND c.relowner <> parent.relowner`;

const ROLES = `SELECT rolname AS name, format('CREATE ROLE %I;', rolname) AS text FROM pg_roles
  WHERE rolname ~ '^vitrine_(migrations|gateway|trace_writer|operator|store_api|enrich)$'`;

const grants = (objects: string) => `
  SELECT o.name || g.grantee::text AS name, format('GRANT %s ON %s TO %s;', string_agg(g.privilege_type, ', ' ORDER BY g.privilege_type),
    o.name, CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END) AS text
  FROM (${objects}) AS o, aclexplode(o.acl) AS g WHERE g.grantee <> o.owner GROUP BY o.name, g.grantee`;

const TABLE_GRANTS = grants(`SELECT quote_ident(relname) AS name, relacl AS acl, relowner AS owner FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname !~ '_\\d{6,8}$'`);
const SCHEMA_GRANTS = grants(`SELECT 'SCHEMA ' || quote_ident(nspname) AS name, nspacl AS acl, nspowner AS owner FROM pg_namespace
  WHERE nspname = 'public'`);
const FUNCTION_GRANTS =
  grants(`SELECT 'FUNCTION ' || p.oid::regprocedure AS name, coalesce(proacl, acldefault('f', proowner)) AS acl,
  proowner AS owner FROM pg_proc p WHERE pronamespace = 'public'::regnamespace`);

const SECTIONS = [
  TABLES,
  PARTITIONS,
  INDEXES,
  FUNCTIONS,
  TRIGGERS,
  TABLE_COMMENTS,
  COLUMN_COMMENTS,
  ROLES,
  OWNERS,
  STRAY_PARTITIONS,
  FUNCTION_OWNERS,
].concat([SCHEMA_GRANTS, TABLE_GRANTS, FUNCTION_GRANTS]);

/** Tables, indexes, functions, triggers, comments, roles and rights of the schema `public`, as text. */
export async function describeSchema(database: Queryable): Promise<string> {
  const texts: string[] = [];
  for (const section of SECTIONS) {
    const sorted = `SELECT text FROM (${section}) AS described ORDER BY name COLLATE "C", text COLLATE "C"`;
    const rows = await database.query<{ text: string }>(sorted);
    texts.push(rows.map(({ text }) => `${text.trim()}\n`).join(section === TABLES || section === FUNCTIONS ? '\n' : ''));
  }
  return texts.join('\n');
}
