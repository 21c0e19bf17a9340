import { expect, test } from '@jest/globals';
import { findGeography, type GeographyEvidence } from './find-geography.ts';

const NOTHING: GeographyEvidence = {
  domain: 'example.com',
  settingsCountry: null,
  addressCountries: [],
  currency: null,
  languages: [],
  phones: [],
  vatIds: [],
};
const NULL = { country: null, basis: null };
const observed = (country: string) => ({ country, basis: 'observed' });
const inferred = (country: string) => ({ country, basis: 'inferred' });

test.each<readonly [string, Partial<GeographyEvidence>, unknown]>([
  ['nothing', {}, NULL],
  ['settings', { settingsCountry: 'de' }, observed('DE')],
  ['settings win over addresses', { settingsCountry: 'DE', addressCountries: ['FR'] }, observed('DE')],
  ['settings that are no country', { settingsCountry: 'XX', addressCountries: ['FR'] }, observed('FR')],
  ['codes of no country', { settingsCountry: 'EU' }, NULL],
  ['addresses that agree', { addressCountries: ['FR', 'fr'] }, observed('FR')],
  ['addresses that contradict', { addressCountries: ['FR', 'BE'] }, NULL],
  ['one weak signal', { domain: 'example.de' }, NULL],
  ['two that agree', { domain: 'example.de', languages: ['de-DE'] }, inferred('DE')],
  ['two of one kind are one', { languages: ['de-DE', 'de_DE'] }, NULL],
  ['two that disagree', { domain: 'example.de', languages: ['de-AT'] }, NULL],
  [
    'two against two',
    { domain: 'example.de', vatIds: ['DE123456789'], languages: ['fr-FR'], phones: ['+33 1 23 45 67 89'] },
    NULL,
  ],
  [
    'three against one',
    { domain: 'example.pl', currency: 'PLN', languages: ['en-GB'], phones: ['+48 22 123 45 67'] },
    inferred('PL'),
  ],
  ['a kind that names several names none', { domain: 'example.de', languages: ['de-DE', 'fr-FR', 'en-GB'] }, NULL],
  ['EUR with English', { currency: 'EUR', languages: ['en'] }, NULL],
  ['currencies of many countries', { domain: 'example.us', currency: 'USD' }, NULL],
  ['generic domains of countries', { domain: 'example.io', phones: ['+246 123 4567'] }, NULL],
  ['.uk is GB', { domain: 'example.co.uk', currency: 'GBP' }, inferred('GB')],
  ['Greek VAT', { domain: 'example.gr', vatIds: ['EL123456789'] }, inferred('GR')],
  ['scripts in languages', { domain: 'example.tw', languages: ['zh-Hant-TW'] }, inferred('TW')],
  ['numbers without a prefix', { domain: 'example.de', phones: ['030 1234567'] }, NULL],
])('%s', (_, evidence, expected) => {
  expect(findGeography({ ...NOTHING, ...evidence })).toEqual(expected);
});
