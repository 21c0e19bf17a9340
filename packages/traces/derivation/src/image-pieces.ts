import { IMAGE_PRICES } from './price-supplement.ts';
import { plainName } from './price-catalogue.ts';
import { countOf, numberIn, type Fields } from './usage-report.ts';

/** Images that are charged by the piece, in US dollars. */
export interface ImagePieces {
  readonly least: number;
  readonly most: number;
}

/** More images than one request may ask for. */
const MAX_ASKED = 10;

/** The price of DALL-E's images; undefined for any other model. `asked`: the fields of the request. */
export function imagePieces(model: string, asked: Fields, images: number): ImagePieces | undefined {
  const plain = plainName(model);
  const prices = Object.hasOwn(IMAGE_PRICES, plain) ? IMAGE_PRICES[plain] : undefined;
  if (prices === undefined || images === 0) return undefined;
  const size = typeof asked['size'] === 'string' ? asked['size'] : '1024x1024';
  const quality = asked['quality'] ?? 'standard';
  const name = quality === 'standard' ? size : quality === 'hd' ? `${size} hd` : '';
  const listed = Object.hasOwn(prices, name) ? prices[name] : undefined;
  const ofSize = Object.entries(prices).filter(([one]) => one.startsWith(size));
  const candidates =
    listed !== undefined ? [listed] : ofSize.length > 0 ? ofSize.map(([, price]) => price) : Object.values(prices);
  const most = Math.max(images, Math.min(MAX_ASKED, countOf(numberIn(asked['n'] ?? 1)) ?? MAX_ASKED));
  return { least: images * Math.min(...candidates), most: most * Math.max(...candidates) };
}
