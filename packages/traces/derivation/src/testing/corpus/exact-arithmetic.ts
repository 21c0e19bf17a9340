/** A fraction. The denominator is positive. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

const TOKEN = /\s*(?:(\d+)(?:\.(\d+))?|([-+*/()]))/y;

/** The exact value of an expression of decimal numbers, `+`, `-`, `*`, `/` and parentheses. Throws for anything else. */
export function exactValueOf(expression: string): Fraction {
  const tokens = tokensIn(expression);
  let at = 0;
  const isNext = (...operators: unknown[]) => operators.includes(tokens[at]);

  const sum = (): Fraction => {
    let value = product();
    while (isNext('+', '-')) {
      const sign = tokens[at++] === '+' ? 1n : -1n;
      const { numerator, denominator } = product();
      value = {
        numerator: value.numerator * denominator + sign * numerator * value.denominator,
        denominator: value.denominator * denominator,
      };
    }
    return value;
  };
  const product = (): Fraction => {
    let value = operand();
    while (isNext('*', '/')) {
      const isProduct = tokens[at++] === '*';
      const { numerator, denominator } = operand();
      if (!isProduct && numerator === 0n) throw new Error(`division by zero in ${expression}`);
      value = {
        numerator: value.numerator * (isProduct ? numerator : denominator),
        denominator: value.denominator * (isProduct ? denominator : numerator),
      };
    }
    return value;
  };
  const operand = (): Fraction => {
    const token = tokens[at++];
    if (typeof token === 'object') return token;
    if (token !== '(') throw new Error(`a number is missing in ${expression}`);
    const value = sum();
    if (tokens[at++] !== ')') throw new Error(`a parenthesis is missing in ${expression}`);
    return value;
  };

  const value = sum();
  if (at !== tokens.length) throw new Error(`an operator is missing in ${expression}`);
  return value;
}

function tokensIn(expression: string): (Fraction | string)[] {
  const text = expression.trim();
  const tokens: (Fraction | string)[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const [, whole, decimals = '', operator] = TOKEN.exec(text) ?? [];
    if (whole === undefined && operator === undefined) throw new Error(`not an expression: ${expression}`);
    tokens.push(operator ?? { numerator: BigInt(`${whole}${decimals}`), denominator: 10n ** BigInt(decimals.length) });
  }
  return tokens;
}

/** US dollars in trillionths, rounded half up. */
export function picoUsdOf({ numerator, denominator }: Fraction): bigint {
  return (2n * numerator * 10n ** 12n + denominator) / (2n * denominator);
}
