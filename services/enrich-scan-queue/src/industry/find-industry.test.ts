import { expect, test } from '@jest/globals';
import { findIndustry } from './find-industry.ts';

const products = (count: number, title: string, ...labels: string[]) => Array.from({ length: count }, () => ({ title, labels }));
const NULL = { slug: null, basis: null };

test.each([
  ['nothing', [], [], NULL],
  ['a kind of shop', ['ClothingStore', 'Organization'], [], { slug: 'apparel-accessories', basis: 'declared' }],
  ['two kinds of one industry', ['ShoeStore', 'JewelryStore'], [], { slug: 'apparel-accessories', basis: 'declared' }],
  ['two kinds that contradict', ['BookStore', 'ToyStore'], [], NULL],
  ['names of no kind', ['Store', 'constructor', '__proto__'], [], NULL],
  ['nine products', [], products(9, 'Hoodie'), NULL],
  ['ten products', [], products(10, 'Hoodie'), { slug: 'apparel-accessories', basis: 'classified' }],
  ['labels before titles', [], products(10, 'Coffee brown', 'Dresses'), { slug: 'apparel-accessories', basis: 'classified' }],
  [
    'half of the products',
    [],
    [...products(5, 'Hoodie'), ...products(5, 'Thing')],
    { slug: 'apparel-accessories', basis: 'classified' },
  ],
  ['less than half', [], [...products(4, 'Hoodie'), ...products(6, 'Thing')], NULL],
  ['less than twice the next', [], [...products(9, 'Hoodie'), ...products(5, 'Espresso beans')], NULL],
  ['words of two industries in one product', [], products(12, 'Dog coffee'), NULL],
  ['declared before classified', ['PetStore'], products(20, 'Hoodie'), { slug: 'animals-pet-supplies', basis: 'declared' }],
])('%s', (_, types, list, expected) => {
  expect(findIndustry(types, list)).toEqual(expected);
});
