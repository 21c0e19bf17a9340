/**
 * Level 1 of Shopify's product taxonomy (MIT) as slugs, and words of types, tags and titles of products that belong to each. Words of
 * two industries (`bag`, `case`, `set`) are omitted.
 */
export const INDUSTRY_WORDS: Readonly<Record<string, string>> = {
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
export const DECLARED_INDUSTRIES: Readonly<Record<string, string>> = {
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
