/** `adds` counts beside others and reports nothing alone. */
export type Strength = 'strong' | 'weak' | 'adds';

const PREFIX = /^[~+!]/;

/** The text of a rule without the sign of its strength. */
export function spellingOf(text: string): string {
  return text.replace(PREFIX, '');
}

/** @param usual - where no sign says otherwise. */
export function strengthOf(text: string, usual: Strength): Strength {
  if (text.startsWith('+')) return 'adds';
  if (text.startsWith('~')) return 'weak';
  return text.startsWith('!') ? 'strong' : usual;
}
