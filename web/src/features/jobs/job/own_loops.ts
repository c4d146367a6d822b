import type { Translate } from '../../../i18n/language'
import type { JobOperators } from '../../../queries/jobs'
import { formatShare } from '../../../ui/format'

/** A loop of a program's own code, found by sampling, with the operator that it is most like. */
export interface OwnLoop {
  place: string
  share: number
  operator: string | null
  similarity: number
}

function member(of: unknown, name: string): unknown {
  return typeof of === 'object' && of !== null ? (of as Record<string, unknown>)[name] : undefined
}

/** The loops that a profile reports. It comes from the center, where the job could have written anything: what does not fit is left out. */
export function ownLoops(known: Pick<JobOperators, 'remainder'>): OwnLoop[] {
  return readLoops(member(member(known.remainder, 'code'), 'loops'))
}

/** The same of what a job type was learned from. */
export function readLoops(loops: unknown): OwnLoop[] {
  if (!Array.isArray(loops)) return []
  return loops.flatMap((loop: unknown) => {
    const [file, offset, share, operator] = ['file', 'offset', 'share', 'operator'].map((name) => member(loop, name))
    const similarity = member(loop, 'similarity') ?? member(loop, 'likeness') // the latter in profiles of a fathom-probe of the version before
    if (typeof file !== 'string' || typeof offset !== 'number' || typeof share !== 'number' || typeof similarity !== 'number') return []
    return [{ place: `${file}+0x${offset.toString(16)}`, share, operator: typeof operator === 'string' ? operator : null, similarity }]
  })
}

/** How sure it is that the operator stands for the loop, in words. */
export function similarityText({ operator, similarity }: OwnLoop, t: Translate): string {
  const much = 0.85
  if (operator === null) return t('jobs.operators.loops.none')
  return t(similarity >= much ? 'jobs.operators.loops.much' : 'jobs.operators.loops.somewhat', { id: operator, similarity: formatShare(similarity) })
}
