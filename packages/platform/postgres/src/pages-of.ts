import type { Row } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** The rows of a large SELECT, at most `pageRows` at once. One turn of the event loop reads everything in the socket: 30,000 rows blocked the
 *  thread for 43 to 68 ms. Takes a round trip per page, and two before the first. Use once per transaction, whose end closes the cursor. */
export async function* pagesOf<R extends object = Row>(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
  pageRows: number,
): AsyncGenerator<R[]> {
  // By default cursors are planned for their first rows.
  await transaction.execute('SET LOCAL cursor_tuple_fraction = 1');
  await transaction.execute(`DECLARE pages NO SCROLL CURSOR FOR ${text}`, values);
  for (;;) {
    const page = await transaction.query<R>(`FETCH ${pageRows} FROM pages`);
    yield page;
    if (page.length < pageRows) return;
  }
}
