export const KEYS = 64;
export const PEPPER = 'pepper-of-the-bench-0123456789abcdef';
export const tokenOf = (key: number): string => `svc_live_${String(key).padStart(43, 'k')}`;
/** Every store has a number below `--stores`. */
export const domainOf = (n: number): string => `shop-${n}.com`;
