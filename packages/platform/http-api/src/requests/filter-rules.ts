/** For each filter of a query, whether an item passes it. A filter without a rule does not compile, so none is accepted and ignored. */
export type FilterRules<Filters extends object, Item> = {
  readonly [Name in keyof Filters]-?: (item: Item, wanted: NonNullable<Filters[Name]>) => boolean;
};

/** The items that pass every filter that is given. */
export function selectBy<Filters extends object, Item>(
  items: readonly Item[],
  filters: Filters,
  rules: FilterRules<Filters, Item>,
): Item[] {
  const names = (Object.keys(rules) as (keyof Filters)[]).filter((name) => filters[name] != null);
  return items.filter((item) => names.every((name) => rules[name](item, filters[name] as NonNullable<Filters[typeof name]>)));
}
