const STATEMENT = /^(?=CREATE |ALTER |GRANT |COMMENT ON )/m;
/** Patterns for the object of a statement, by kind of statement. */
const KEYS = [
  /^CREATE (?:UNLOGGED )?TABLE \S+(?: PARTITION OF \S+)?/,
  /^CREATE (?:UNIQUE )?INDEX \S+/,
  /^CREATE OR REPLACE FUNCTION .*/,
  /^CREATE TRIGGER \S+/,
  /^CREATE ROLE \S+/,
  /^ALTER (?:TABLE|FUNCTION) .+? OWNER/,
  /^COMMENT ON (?:TABLE|COLUMN) \S+/,
  /(?<=^GRANT .*)ON .+ TO \S+/,
];
/** Rights beyond those of the migrations count if our roles or PUBLIC have them. Other roles, tables and indexes are ignored. */
const UNEXPECTED = /^(?:ON .* TO (?:PUBLIC|vitrine_\w+)|ALTER TABLE \w+_\d{6,8} OWNER)/;

/** The differences between a database and the migrations, both in the format of `describeSchema`. One line per difference. */
export function schemaDifferences(expected: string, found: string): string[] {
  const [wanted, there] = [statementsOf(expected), statementsOf(found)];
  const unexpected = [...there].filter(([key]) => !wanted.has(key) && isUnexpected(key, wanted));
  return [
    ...[...wanted].flatMap(([key, text]) => differencesOf(key, text, there.get(key))),
    ...unexpected.map(([, text]) => `unexpected: ${firstLineOf(text)}`),
  ];
}

function isUnexpected(key: string, wanted: ReadonlyMap<string, string>): boolean {
  if (!UNEXPECTED.test(key)) return false;
  const object = /^ON (.+) TO /.exec(key)?.[1];
  return (
    object === undefined ||
    [...wanted.keys()].some((other) => other.startsWith(`ON ${object} TO `) || other.endsWith(` TABLE ${object}`))
  );
}

function differencesOf(key: string, wanted: string, found: string | undefined): string[] {
  if (found === undefined) return [`missing: ${firstLineOf(wanted)}`];
  if (found === wanted) return [];
  if (!key.startsWith('CREATE TABLE') && !key.startsWith('CREATE UNLOGGED')) {
    return wanted.includes('\n') ? [`differs: ${key}`] : [`differs: ${firstLineOf(found)} should be ${firstLineOf(wanted)}`];
  }
  const [lines, others] = [linesOf(wanted), linesOf(found)];
  const lacks = lines.filter((line) => !others.includes(line)).map((line) => `differs: ${key} lacks ${line}`);
  const has = others.filter((line) => !lines.includes(line)).map((line) => `differs: ${key} has ${line}`);
  return [...lacks, ...has];
}

function statementsOf(text: string): Map<string, string> {
  const statements = text.split(STATEMENT).map((statement) => statement.trim());
  return new Map(statements.map((statement) => [keyOf(statement), statement] as const).filter(([key]) => key !== ''));
}

function keyOf(statement: string): string {
  for (const pattern of KEYS) {
    const key = pattern.exec(statement)?.[0];
    if (key !== undefined) return key.replace(/[;(]$/, '');
  }
  return '';
}

function linesOf(table: string): string[] {
  return table
    .split('\n')
    .slice(1)
    .map((line) => line.trim().replace(/,$/, ''));
}

function firstLineOf(statement: string): string {
  return (statement.split('\n')[0] ?? '').replace(/(?<![ (;])[ (;]+$/, '');
}
