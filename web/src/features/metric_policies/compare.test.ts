import { expect, it } from 'vitest'
import type { ComparedUnitType, MetricPolicy } from '../../queries/metric_policies'
import { otherOf, policyDifferences, summaryOf } from './compare'

function policy(id: string, version: number, change: Partial<MetricPolicy> = {}): MetricPolicy {
  return { id, version, active: false, document: { id, version, kind: 'combined', policies: [] }, ...change } as unknown as MetricPolicy
}

it('a policy is compared with the wanted one, else with the version before it, else with the active one', () => {
  const [one, two, other] = [policy('a', 1), policy('a', 2), policy('b', 4, { active: true })]
  const all = [one, two, other]
  expect(otherOf(two, all, 'b@4')).toBe(other)
  expect(otherOf(two, all, 'gone@1')).toBe(one)
  expect(otherOf(two, all, 'a@2')).toBe(one)
  expect(otherOf(one, all, '')).toBe(other)
  expect(otherOf(other, [other], '')).toBeNull()
})

it('differences are told part by part, and names are none', () => {
  const weights = (first: number) => ({ kind: 'combined', policies: [{ policy: 'x@1', weight: first }, { policy: 'y@1', weight: 1 - first }] })
  const before = policy('a', 1, { document: { id: 'a', version: 1, ...weights(0.5) } as unknown as MetricPolicy['document'] })
  const after = policy('b', 3, { document: { id: 'b', version: 3, ...weights(0.25) } as unknown as MetricPolicy['document'] })
  expect(policyDifferences(before, after)).toEqual([
    { path: 'policies.x@1.weight', before: 0.5, after: 0.25 }, { path: 'policies.y@1.weight', before: 0.5, after: 0.75 }])
})

it('a trial is told in a few figures', () => {
  const unit = (unit_type: string, before: [number | null, number | null], after: [number | null, number | null]) => ({
    center: 'alpha', unit_type, score_before: before[0], rank_before: before[1], score_after: after[0], rank_after: after[1] }) as ComparedUnitType
  const units = [unit('a', [10, 1], [5, 2]), unit('b', [9, 2], [9, 1]), unit('c', [1, 3], [null, null]), unit('d', [null, null], [2, 3])]
  expect(summaryOf({ unit_types: units })).toEqual({
    all: 4, scores: 1, ranks: 2, lost: 1, gained: 1, firstBefore: 'alpha/a', firstAfter: 'alpha/b' })
  expect(summaryOf({ unit_types: [] })).toMatchObject({ all: 0, firstBefore: null })
})
