/** Limits of the sitemap protocol for the number and the length of addresses in a file (sitemaps.org). */
const MAX_LOCATIONS = 50_000;
const MAX_LENGTH = 2_048;
const [BEGIN, END] = ['<loc>', '</loc>'];

/** The addresses of a sitemap or of an index of sitemaps, at most 50,000. Linear in the length of any text. */
export function sitemapLocations(body: unknown): string[] {
  if (typeof body !== 'string') return [];
  const locations: string[] = [];
  for (let at = body.indexOf(BEGIN); at !== -1 && locations.length < MAX_LOCATIONS;) {
    const end = body.indexOf(END, at);
    if (end === -1) break;
    const location = withoutCdata(body.slice(at + BEGIN.length, end).trim());
    if (location.length <= MAX_LENGTH && /^https?:\/\//.test(location)) locations.push(location.replaceAll('&amp;', '&'));
    // Continues after the end, because a search from each of many openings would pass the same text again.
    at = body.indexOf(BEGIN, end);
  }
  return locations;
}

function withoutCdata(text: string): string {
  return text.startsWith('<![CDATA[') && text.endsWith(']]>') ? text.slice(9, -3).trim() : text;
}
