import { IMAGE_PRICES } from './price-supplement.ts';
import { plainName } from './price-catalogue.ts';
import { countOf, type Fields } from './usage-report.ts';

/** Images that are charged by the piece, in US dollars. */
export interface ImagePieces {
  readonly least: number;
  readonly most: number;
}

/** More images than one request may ask for. */
const MAX_ASKED = 10;

/** The price of DALL-E's images; undefined for any other model. `asked`: the fields of the request. */
export function imagePieces(model: string, asked: Fields, images: number): ImagePieces | undefined {
  const name = plainName(model);
  const prices = Object.hasOwn(IMAGE_PRICES, name) ? IMAGE_PRICES[name] : undefined;
  if (prices === undefined || images === 0) return undefined;
  const size = typeof asked['size'] === 'string' ? asked['size'] : '1024x1024';
  const quality = asked['quality'] ?? 'standard';
  const listed = quality === 'standard' ? prices[size] : quality === 'hd' ? prices[`${size} hd`] : undefined;
  const ofSize = Object.entries(prices).filter(([one]) => one.startsWith(size));
  const candidates =
    listed !== undefined ? [listed] : ofSize.length > 0 ? ofSize.map(([, price]) => price) : Object.values(prices);
  const most = Math.max(images, Math.min(MAX_ASKED, countOf(Number(asked['n'] ?? 1)) ?? MAX_ASKED));
  return { least: images * Math.min(...candidates), most: most * Math.max(...candidates) };
}
