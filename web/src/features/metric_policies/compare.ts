import { type MetricPolicy, nameOf, type PolicyTrial } from '../../queries/metric_policies'
import { diffJson, type Difference } from '../../ui/json_diff'

/** What a policy is compared with: the one that is wanted, else the version before it, else the active one; null: there is none. */
export function otherOf(policy: MetricPolicy, all: readonly MetricPolicy[], wanted: string): MetricPolicy | null {
  const others = all.filter((one) => nameOf(one) !== nameOf(policy))
  const before = others.filter((one) => one.id === policy.id && one.version < policy.version).sort((a, b) => b.version - a.version)[0]
  return others.find((one) => nameOf(one) === wanted) ?? before ?? others.find((one) => one.active) ?? null
}

/** In what the documents of two policies differ, beside their names. */
export function policyDifferences(before: MetricPolicy, after: MetricPolicy): Difference[] {
  return diffJson(before.document, after.document).filter(({ path }) => path !== 'version' && path !== 'id')
}

export interface TrialSummary {
  /** Unit types that were compared. */
  all: number
  /** How many of them get another score or another rank, have a score no more, or have one for the first time. */
  scores: number
  ranks: number
  lost: number
  gained: number
  /** Who is first now and then, as center/unit type; null: nobody. */
  firstBefore: string | null
  firstAfter: string | null
}

/** What would be otherwise under a policy, in a few figures. */
export function summaryOf({ unit_types: units }: Pick<PolicyTrial, 'unit_types'>): TrialSummary {
  const count = (fits: (unit: PolicyTrial['unit_types'][number]) => boolean) => units.filter(fits).length
  const first = (rank: 'rank_before' | 'rank_after') => {
    const best = units.find((unit) => unit[rank] === 1)
    return best ? `${best.center}/${best.unit_type}` : null
  }
  return {
    all: units.length,
    scores: count((unit) => unit.score_before !== null && unit.score_after !== null && unit.score_before !== unit.score_after),
    ranks: count((unit) => unit.rank_before !== null && unit.rank_after !== null && unit.rank_before !== unit.rank_after),
    lost: count((unit) => unit.score_before !== null && unit.score_after === null),
    gained: count((unit) => unit.score_before === null && unit.score_after !== null),
    firstBefore: first('rank_before'), firstAfter: first('rank_after'),
  }
}
