import { FACT_BOUND, TEXT_BOUND } from './evidence.ts';
import type { EvidenceList } from './evidence-list.ts';
import { objectOf, type JsonObject } from './json-ld.ts';

/** Maximum characters of a setting. */
const WINDOW = 32_768;
/** Maximum settings read from a page. Real pages have 5. */
const READ_BOUND = 40;
const PIXEL_SETTINGS = ['pixel_type', 'pixel_id', 'mailchimp_store_id', 'accountID', 'account_ID'];

/** Location of tracker ids in Shopify's own analytics. */
const TRACKER_IDS = ['pixelIds', 'pixelId', 'trackingId', 'conversionId'];
const PINTEREST_ID = /^[0-9]{10,16}$/;

/** Settings that Shopify writes into inline scripts, except those that depend on the visitor, such as `Shopify.country`. */
export class PlatformSettings {
  readonly facts: Record<string, string> = {};
  readonly #pixels: EvidenceList;
  #reads = 0;

  constructor(pixels: EvidenceList) {
    this.#pixels = pixels;
  }

  /** @param valueAt - after `=` or `:`. */
  read(name: string, html: string, valueAt: number, end: number): void {
    if (++this.#reads > READ_BOUND) return;
    const value = jsonAt(html, valueAt, Math.min(end, valueAt + WINDOW));
    if (value === undefined) return;
    if (name === 'Shopify.shop' || name === 'myshopifyDomain') this.#state('shopify.shop', value);
    else if (name === 'Shopify.theme') this.#readTheme(objectOf(value));
    else if (name === 'initData') this.#readShop(objectOf(objectOf(value)['shop']));
    else if (name === 'Pinterest' || name.includes(' ')) this.#readTracker(name, objectOf(value));
    else if (name.endsWith('Connected') && value === true) this.#pixels.add(`setting:${name}`);
    else if (name === 'webPixelsConfigList' && Array.isArray(value)) this.#readPixels(value as unknown[]);
  }

  #readTheme(theme: JsonObject): void {
    for (const field of ['name', 'schema_name', 'schema_version', 'theme_store_id', 'role']) {
      this.#state(`shopify.theme.${field}`, theme[field]);
    }
  }

  #readShop(shop: JsonObject): void {
    this.#state('shopify.shop', shop['myshopifyDomain']);
    this.#state('shopify.country_code', shop['countryCode']);
    this.#state('shopify.name', shop['name']);
    this.#state('shopify.currency', objectOf(shop['paymentSettings'])['currencyCode']);
  }

  #readPixels(pixels: readonly unknown[]): void {
    for (const pixel of pixels.slice(0, 60).map(objectOf)) {
      const client = pixel['apiClientId'];
      if (typeof client === 'number') this.#pixels.add(`client:${client}`);
      const configuration = parse(pixel['configuration']);
      for (const name of PIXEL_SETTINGS) {
        const value = configuration[name];
        if (typeof value === 'string') this.#pixels.add(name === 'pixel_type' ? `${name}:${value}` : name);
      }
      const config = parse(configuration['config']);
      const tags: unknown = config['google_tag_ids'];
      for (const id of [config['pixel_id'], ...(Array.isArray(tags) ? (tags as unknown[]).slice(0, 20) : [])]) {
        if (typeof id === 'string') this.#pixels.add(`tag:${id.split('-', 1)[0] ?? ''}`);
      }
    }
  }

  /** Trackers that Shopify's own analytics ran before there were web pixels: `"Facebook Pixel":{"pixelIds":["1"]}`. */
  #readTracker(name: string, tracker: JsonObject): void {
    const ids = TRACKER_IDS.flatMap((field) => tracker[field]);
    const isPinterest = typeof tracker['id'] === 'string' && PINTEREST_ID.test(tracker['id']);
    if (name === 'Pinterest' ? isPinterest : ids.some((id) => typeof id === 'string' && id !== '')) this.#pixels.add(name);
  }

  #state(name: string, value: unknown): void {
    const isValue = typeof value === 'string' || typeof value === 'number';
    if (isValue && Object.keys(this.facts).length < FACT_BOUND) this.facts[name] ??= String(value).slice(0, TEXT_BOUND);
  }
}

function parse(value: unknown): JsonObject {
  if (typeof value !== 'string') return {};
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return {}; // The configuration of a pixel is free text of its app.
  }
}

/** The JSON value at a position of code, or undefined, because any code may follow. */
function jsonAt(html: string, from: number, end: number): unknown {
  let start = from;
  while (start < end && html.charCodeAt(start) <= 0x20) start++;
  if (html.startsWith('true', start)) return true;
  const stop = endOfValue(html, start, end);
  if (stop === undefined) return undefined;
  try {
    return JSON.parse(html.slice(start, stop));
  } catch {
    return undefined;
  }
}

function endOfValue(html: string, start: number, end: number): number | undefined {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < end; i++) {
    const code = html.charCodeAt(i);
    if (isInString) {
      if (code === 0x5c) i++;
      else if (code === 0x22) isInString = false;
    } else if (code === 0x22) isInString = true;
    else if (code === 0x7b || code === 0x5b) depth++;
    else if (code === 0x7d || code === 0x5d) depth--;
    else if (depth === 0) return undefined;
    if (depth === 0 && !isInString) return i + 1;
  }
  return undefined;
}
