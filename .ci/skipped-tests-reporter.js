// A reporter of jest that prints at the end of a run how many tests were skipped, and why. The reason stands in the title of their `describe`
// (e2e/src/describe-unless.ts).

/** Numbers of skipped tests by reason, the most frequent first. `results` are assertion results as jest gives them to reporters and writes
 *  them as JSON. A test without a reason counts under 'no reason given'. */
export function countSkipped(results) {
  const counts = new Map();
  for (const { status, ancestorTitles, title } of results) {
    if (!['pending', 'skipped', 'todo', 'disabled'].includes(status)) continue;
    const [, reason = 'no reason given'] = /\[skipped: (.*?)\]/s.exec([...ancestorTitles, title].join(' ')) ?? [];
    counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a);
}

export default class SkippedTestsReporter {
  onRunComplete(_contexts, { testResults }) {
    for (const [reason, count] of countSkipped(testResults.flatMap(({ testResults: results }) => results)))
      process.stderr.write(`${count} tests skipped: ${reason}\n`);
  }
}
