import { TEXT_BOUND, type JsonLdFacts, type JsonLdOrganization, type JsonLdProduct } from './evidence.ts';

/** A longer block is not read. The largest of real shops have 40 KB. */
const BLOCK_BOUND = 131_072;
const BLOCKS_BOUND = 20;
/** Maximum nodes visited in all blocks of a page, and the maximum depth. */
const NODES_BOUND = 2_000;
const DEPTH_BOUND = 12;
const BOUNDS = { types: 40, organizations: 5, products: 20, sameAs: 20, countries: 10 };
const IDENTIFIERS = ['vatID', 'leiCode', 'duns', 'taxID'];
const ORGANIZATION = /(?:Organization|Store|Corporation|LocalBusiness|Brand)$/;

export type JsonObject = Readonly<Record<string, unknown>>;

/** Reads the facts of JSON-LD blocks. Broken blocks are counted and skipped. */
export class JsonLdReader {
  readonly facts: JsonLdFacts = {
    types: [],
    organizations: [],
    products: [],
    shippingOrigins: [],
    returnCountries: [],
    failed: 0,
  };
  #blocks = 0;
  #nodes = 0;

  read(json: string): void {
    if (json.length > BLOCK_BOUND || ++this.#blocks > BLOCKS_BOUND) {
      this.facts.failed++;
      return;
    }
    try {
      this.#visit(JSON.parse(json), 0);
    } catch {
      this.facts.failed++; // Counted in the evidence: a page with a broken block is not a page without products.
    }
  }

  #visit(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null || depth > DEPTH_BOUND || ++this.#nodes > NODES_BOUND) return;
    if (Array.isArray(value)) {
      for (const item of value as unknown[]) this.#visit(item, depth + 1);
      return;
    }
    const node = value as JsonObject;
    for (const type of typesOf(node)) this.#take(type, node);
    for (const child of Object.values(node)) this.#visit(child, depth + 1);
  }

  #take(type: string, node: JsonObject): void {
    const { types, organizations, products, shippingOrigins, returnCountries } = this.facts;
    addDistinct(types, type, BOUNDS.types);
    if (ORGANIZATION.test(type) && organizations.length < BOUNDS.organizations) organizations.push(organizationOf(type, node));
    if (/^Product(?:Group)?$/.test(type) && products.length < BOUNDS.products) products.push(productOf(node));
    if (type === 'OfferShippingDetails')
      addDistinct(shippingOrigins, countryOf(objectOf(node['shippingOrigin'])), BOUNDS.countries);
    if (type === 'MerchantReturnPolicy') addDistinct(returnCountries, textOf(node['returnPolicyCountry']), BOUNDS.countries);
  }
}

function organizationOf(type: string, node: JsonObject): JsonLdOrganization {
  return {
    type,
    name: textOf(node['name']),
    url: textOf(node['@id']) ?? textOf(node['url']),
    sameAs: [node['sameAs']].flat().flatMap((link) => textOf(link) ?? []).slice(0, BOUNDS.sameAs), // prettier-ignore
    addressCountry: countryOf(node),
    telephone: textOf(node['telephone']),
    vatId: textOf(node['vatID']),
    identifiers: IDENTIFIERS.flatMap((name) =>
      textOf(node[name]) === null ? [] : `${name}:${textOf(node[name])}`.slice(0, TEXT_BOUND),
    ),
  };
}

function productOf(node: JsonObject): JsonLdProduct {
  const offer = objectOf([node['offers']].flat()[0]);
  const specification = objectOf([offer['priceSpecification']].flat()[0]);
  return {
    name: textOf(node['name']),
    sku: textOf(node['sku']),
    price: textOf(offer['lowPrice'] ?? offer['price'] ?? specification['price']),
    highPrice: textOf(offer['highPrice']),
    currency: textOf(offer['priceCurrency'] ?? specification['priceCurrency']),
    availability: textOf(offer['availability']),
    category: textOf(node['category']),
  };
}

function countryOf(node: JsonObject): string | null {
  const address = objectOf([node['address']].flat()[0]);
  const country = address['addressCountry'] ?? node['addressCountry'];
  return textOf(country) ?? textOf(objectOf(country)['name']);
}

function addDistinct(values: string[], value: string | null, bound: number): void {
  if (value !== null && values.length < bound && !values.includes(value)) values.push(value);
}

function typesOf(node: JsonObject): string[] {
  return [node['@type']].flat().flatMap((type) => {
    const name = textOf(type);
    return name === null ? [] : [name.slice(name.lastIndexOf('/') + 1)];
  });
}

/** Empty for a value that is not an object. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value !== '' ? value.slice(0, TEXT_BOUND) : null;
}
