import type { ObservationFacts } from '@vitrine/stores/observation/observation-facts';
import type { CatalogProduct } from '../catalog/catalog-page.ts';

/** Level 1 of Shopify's product taxonomy (MIT) as slugs, and words of types, tags and titles of products that belong to each. Words of two
 *  industries (`bag`, `case`, `set`) are in none. */
const INDUSTRY_WORDS: Readonly<Record<string, string>> = {
  'animals-pet-supplies': 'dog cat pet puppy kitten leash kibble aquarium litter hamster horse bird fish-food collar-dog petfood',
  'apparel-accessories': `apparel clothing clothes shirt shirts t-shirt t-shirts tee tees hoodie hoodies sweatshirt sweater jeans pants trousers
    shorts leggings dress dresses skirt jacket jackets coat coats blazer socks underwear bra lingerie bikini swimwear shoes shoe sneakers boots
    sandals heels hat hats cap beanie scarf gloves belt jewelry jewellery necklace bracelet earrings earring ring rings sunglasses handbag
    handbags wallet hemd hose kleid jacke schuhe schmuck robe chaussures vestido zapatos camisa camiseta`,
  'arts-entertainment':
    'craft crafts yarn paint brushes canvas guitar piano drum violin ukulele knitting crochet sewing embroidery collectible',
  'baby-toddler': 'baby toddler infant newborn stroller diaper diapers nappy pacifier onesie crib',
  'business-industrial': 'industrial forklift pallet signage janitorial packaging-supplies restaurant-supplies welding hydraulic',
  'cameras-optics': 'camera cameras lens lenses tripod binoculars telescope photography gimbal',
  electronics: `electronics phone smartphone iphone laptop tablet headphones earbuds charger cable usb hdmi speaker monitor keyboard router
    drone console led-tv smartwatch powerbank ssd gpu`,
  'food-beverages-tobacco': `coffee tea espresso chocolate snack snacks wine beer whisky whiskey gin vodka spirits juice honey olive sauce spice
    spices pasta cheese cookies candy kaffee tee-blend wein vino vin cafe protein-bar vape`,
  furniture:
    'furniture sofa couch chair chairs table desk bookshelf mattress bed nightstand wardrobe dresser stool bench armchair',
  hardware: 'drill saw wrench screwdriver hammer screws bolts plumbing faucet hinge toolbox lumber tools',
  'health-beauty': `skincare serum moisturizer cleanser makeup lipstick mascara perfume fragrance cologne shampoo conditioner soap lotion sunscreen
    vitamin vitamins supplement supplements collagen toothbrush cosmetics nail hair hautpflege parfum`,
  'home-garden': `candle candles blanket pillow duvet bedding towel towels rug curtain lamp lighting vase planter plant plants garden kitchen
    cookware mug mugs plate plates bowl cutlery decor wallpaper kerze`,
  'luggage-bags': 'luggage suitcase backpack backpacks duffel tote briefcase',
  media: 'book books novel paperback hardcover ebook vinyl lp cd dvd blu-ray magazine comic comics manga buch livre',
  'office-supplies': 'pen pens pencil notebook notebooks planner stationery stapler envelope envelopes paper printer-ink',
  'sporting-goods': `yoga fitness dumbbell kettlebell bike bicycle cycling helmet tent camping hiking climbing surfboard skateboard snowboard ski
    golf tennis football basketball running fishing`,
  'toys-games': 'toy toys puzzle puzzles lego plush doll dolls boardgame board-game dice figurine playset',
  'vehicles-parts': 'car automotive tire tires tyre brake exhaust motorcycle engine windshield bumper headlight spark',
};

/** Types of schema.org that a shop declares itself to be. */
const DECLARED_INDUSTRIES: Readonly<Record<string, string>> = {
  AutoPartsStore: 'vehicles-parts',
  Bakery: 'food-beverages-tobacco',
  BikeStore: 'sporting-goods',
  BookStore: 'media',
  ClothingStore: 'apparel-accessories',
  ComputerStore: 'electronics',
  ElectronicsStore: 'electronics',
  Florist: 'home-garden',
  FurnitureStore: 'furniture',
  GardenStore: 'home-garden',
  GroceryStore: 'food-beverages-tobacco',
  HardwareStore: 'hardware',
  HobbyShop: 'arts-entertainment',
  HomeGoodsStore: 'home-garden',
  JewelryStore: 'apparel-accessories',
  LiquorStore: 'food-beverages-tobacco',
  MensClothingStore: 'apparel-accessories',
  MobilePhoneStore: 'electronics',
  MovieRentalStore: 'media',
  MusicStore: 'media',
  OfficeEquipmentStore: 'office-supplies',
  PetStore: 'animals-pet-supplies',
  Pharmacy: 'health-beauty',
  ShoeStore: 'apparel-accessories',
  SportingGoodsStore: 'sporting-goods',
  TireShop: 'vehicles-parts',
  ToyStore: 'toys-games',
  Winery: 'food-beverages-tobacco',
};

type ClassifiedProduct = Pick<CatalogProduct, 'title' | 'labels'>;

/** Minimum number of products for a vote. Spec: S8.13. */
const FEWEST_PRODUCTS = 10;
/** Maximum number of products in a vote; more would not change it. */
const MOST_PRODUCTS = 500;
/** The winner needs this share of all products, and this multiple of the second. */
const WINNING_PART = 0.5;
const WINNING_LEAD = 2;

const INDUSTRY_OF_WORD = new Map(
  Object.entries(INDUSTRY_WORDS).flatMap(([industry, words]) =>
    words.split(/\s+/).map((word): [string, string] => [word, industry]),
  ),
);

/**
 * `declared` if structured data names one kind of shop, else `classified` by a vote of products; null if neither is clear.
 * @param types - of the organisation in structured data
 */
export function findIndustry(types: readonly string[], products: readonly ClassifiedProduct[]): ObservationFacts['industry'] {
  const declared = new Set(types.map((type) => ownValue(DECLARED_INDUSTRIES, type)).filter((slug) => slug !== undefined));
  if (declared.size === 1) return { slug: [...declared][0] ?? null, basis: 'declared' };
  const voters = products.slice(0, MOST_PRODUCTS);
  if (voters.length < FEWEST_PRODUCTS) return { slug: null, basis: null };

  const [best, next] = ranked(voters.flatMap((product) => industryOf(product) ?? []));
  const isClear = best !== undefined && best[1] >= WINNING_PART * voters.length && best[1] >= WINNING_LEAD * (next?.[1] ?? 0);
  return isClear ? { slug: best[0], basis: 'classified' } : { slug: null, basis: null };
}

const ownValue = (record: Readonly<Record<string, string>>, key: string) =>
  Object.hasOwn(record, key) ? record[key] : undefined;

/** The industry that most words of a product belong to. Labels come first, because titles contain colours and names of people. */
function industryOf({ title, labels }: ClassifiedProduct): string | undefined {
  return mostFrequent(labels.flatMap(wordsOf)) ?? mostFrequent(wordsOf(title));
}

function mostFrequent(words: readonly string[]): string | undefined {
  const [best, next] = ranked(words.flatMap((word) => INDUSTRY_OF_WORD.get(word) ?? []));
  return best === undefined || best[1] === next?.[1] ? undefined : best[0];
}

/** Each value with how often it occurs, the most frequent first. */
function ranked(values: readonly string[]): [value: string, count: number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]);
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d]+(?:-[\p{L}\d]+)*/gu) ?? [];
