import type { Operator } from '../../../queries/operators'

export const operatorFilterNames = ['text', 'category', 'state'] as const

export interface OperatorFilters {
  /** A part of the id or of what it computes, in any case. */
  text: string
  category: string
  state: 'used' | 'withdrawn' | ''
}

/** REST lists the whole library; it is short, so it is filtered here. */
export function filterOperators(operators: readonly Operator[], filters: OperatorFilters): Operator[] {
  const text = filters.text.trim().toLowerCase()
  return operators.filter((operator) => (!text || `${operator.id} ${operator.description}`.toLowerCase().includes(text)) &&
    (!filters.category || operator.category === filters.category) && (!filters.state || (operator.withdrawn_at === null) === (filters.state === 'used')))
}

export function parseOperatorFilters(raw: Record<(typeof operatorFilterNames)[number], string>): OperatorFilters {
  return { text: raw.text, category: raw.category.trim(), state: raw.state === 'used' || raw.state === 'withdrawn' ? raw.state : '' }
}
