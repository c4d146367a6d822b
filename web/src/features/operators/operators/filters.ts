import type { Operator } from '../../../queries/operators'

export interface OperatorFilters {
  category: string
  state: 'used' | 'withdrawn' | ''
}

/** REST lists the whole library; it is short, so it is filtered here. */
export function filterOperators(operators: readonly Operator[], filters: OperatorFilters): Operator[] {
  return operators.filter((operator) => (!filters.category || operator.category === filters.category) &&
    (!filters.state || (operator.withdrawn_at === null) === (filters.state === 'used')))
}

export function parseOperatorFilters(raw: { category: string; state: string }): OperatorFilters {
  return { category: raw.category.trim(), state: raw.state === 'used' || raw.state === 'withdrawn' ? raw.state : '' }
}
