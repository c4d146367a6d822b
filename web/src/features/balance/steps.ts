import type { Translate } from '../../i18n/language'
import type { BalanceStep } from '../../queries/balance'
import { knownWord } from '../../ui/known_word'

/** +0.125; a dash where nothing was measured is the caller's. */
export function signed(value: number | null | undefined, digits = 3): string | null {
  if (value === null || value === undefined || !Number.isFinite(value)) return null
  const text = Math.abs(value).toFixed(digits)
  return `${value < 0 && Number(text) !== 0 ? '−' : '+'}${text}`
}

export interface Change {
  kind: 'sub_units' | 'clock_mhz' | 'precision_steps'
  by: number
}

const kinds: readonly Change['kind'][] = ['sub_units', 'clock_mhz', 'precision_steps']

/** What a step changed, or would have changed in a dry run. */
export function changesOf(step: BalanceStep): Change[] {
  if (step.outcome !== 'acted') return []
  return kinds.map((kind) => ({ kind, by: step.actions[kind] })).filter((change) => change.by !== 0)
}

/** The newest first: those in which something was to be done or something is missing, or all. */
export function deedsOf(steps: readonly BalanceStep[], isAll: boolean): BalanceStep[] {
  return steps.filter((step) => isAll || step.outcome === 'acted').reverse()
}

/** A figure over time, with gaps where nothing was measured. */
export function pointsOf(steps: readonly BalanceStep[], figure: 'error' | 'output' | 'transfer' | 'load'): [number, number | null][] {
  return steps.map((step) => [Date.parse(step.at), step[figure]])
}

const outcomes = ['acted', 'in_band', 'neutral', 'paused', 'looks_again', 'no_room', 'let_go', 'no_sample'] as const
export type Outcome = (typeof outcomes)[number]

/** One that this console has words for; null: a newer agent's. */
export function knownOutcome(outcome: string): Outcome | null {
  return knownWord(outcomes, outcome)
}

const laws = ['pid', 'pi', 'pd', 'aimd'] as const

/** The law in this reader's words. Empty, and then nothing: an agent that does not say. */
export function lawText(t: Translate, law: string): string {
  const known = knownWord(laws, law)
  return known ? t(`balance.law.${known}`) : law
}

// By the sentences in which agents name them.
const regions = {
  far: 'balance.region.far',
  middle: 'balance.region.middle',
  'near, changing fast': 'balance.region.near_fast',
  'near, changing slowly': 'balance.region.near_slow',
} as const
const regionNames = Object.keys(regions) as (keyof typeof regions)[]

/** The region of gains in this reader's words; null where nothing was measured. */
export function regionText(t: Translate, region: string | null): string | null {
  const known = knownWord(regionNames, region)
  return known ? t(regions[known]) : region
}
