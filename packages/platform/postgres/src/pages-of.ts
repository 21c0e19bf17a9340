import type { Row } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** The rows of a SELECT that may have many, at most `pageRows` at once. One turn of the event loop reads all that is in the socket: 30,000 rows
 *  blocked the thread for 43 to 68 ms. Takes a round trip for each page, and two before the first. Once in a transaction, which closes the cursor. */
export async function* pagesOf<R extends object = Row>(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
  pageRows: number,
): AsyncGenerator<R[]> {
  // Cursors are planned for their first rows otherwise.
  await transaction.execute('SET LOCAL cursor_tuple_fraction = 1');
  await transaction.execute(`DECLARE pages NO SCROLL CURSOR FOR ${text}`, values);
  for (;;) {
    const page = await transaction.query<R>(`FETCH ${pageRows} FROM pages`);
    yield page;
    if (page.length < pageRows) return;
  }
}
