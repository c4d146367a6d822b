import type { Translate } from '../../../i18n/language'
import type { JobOperators } from '../../../queries/jobs'
import { formatShare } from '../../../ui/format'

/** What the list of a job's operators and its probe task have no room for, by name and text; nothing where they have room for all. */
export function leftOutFacts(known: Pick<JobOperators, 'unlisted' | 'unprobed'>, t: Translate): [string, string][] {
  return (['unlisted', 'unprobed'] as const).filter((name) => known[name].count > 0).map((name) => {
    const { count, share } = known[name]
    const what = share === null
      ? t('jobs.operators.left_out', { n: count })
      : t('jobs.operators.left_out.share', { n: count, share: formatShare(share) })
    return [t(`jobs.operators.${name}`), t(`jobs.operators.${name}.text`, { what })]
  })
}
