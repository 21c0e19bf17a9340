import type { Row } from './connection.ts';
import type { Transaction } from './transaction.ts';

/** The rows of a SELECT that may have many, at most `pageRows` at once. What is in the socket is read within one turn of the event loop: 30,000
 *  rows held the thread for 43 to 68 ms, in pages of 1,000 for 12 to 16. The server makes the next page while one is
 *  used. Takes two round trips, and one for each page. Once in a transaction, which closes the cursor. */
export async function* pagesOf<R extends object = Row>(
  transaction: Transaction,
  text: string,
  values: readonly unknown[],
  pageRows: number,
): AsyncGenerator<R[]> {
  // Cursors are planned for their first rows otherwise.
  await transaction.execute('SET LOCAL cursor_tuple_fraction = 1');
  await transaction.execute(`DECLARE pages NO SCROLL CURSOR FOR ${text}`, values);
  const fetch = () => transaction.query<R>(`FETCH ${pageRows} FROM pages`);
  let next = fetch();
  try {
    for (let isLast = false; !isLast;) {
      const page = await next;
      isLast = page.length < pageRows;
      if (!isLast) {
        next = fetch();
        // Its failure is reported when its turn comes, which may be never.
        next.catch(() => {});
      }
      yield page;
    }
  } finally {
    await next.catch(() => {});
  }
}
