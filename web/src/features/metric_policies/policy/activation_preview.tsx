import { useText } from '../../../i18n/language'
import type { PolicyTrial } from '../../../queries/metric_policies'
import { ErrorState, LoadingState } from '../../../ui/states'
import { summaryOf } from '../compare'

/** What would be otherwise once a policy is active, before somebody activates it. */
export function ActivationPreview({ trial, error }: { trial: PolicyTrial | undefined; error: unknown }) {
  const t = useText()
  if (error) return <ErrorState error={error} title={t('policies.preview.failed')} />
  if (!trial) return <LoadingState />
  const { all, scores, ranks, lost, gained, firstBefore, firstAfter } = summaryOf(trial)
  if (all === 0) return <p role="status">{t('policies.try.nothing')}</p>
  return (
    <div role="status">
      <p>{t('policies.preview', { all, active: trial.active_policy })}</p>
      <ul>
        <li>{t('policies.preview.scores', { n: scores })}</li>
        <li>{t('policies.preview.ranks', { n: ranks })}</li>
        {lost > 0 ? <li><strong>{t('policies.preview.lost', { n: lost })}</strong></li> : null}
        {gained > 0 ? <li>{t('policies.preview.gained', { n: gained })}</li> : null}
        {firstAfter !== null && firstAfter !== firstBefore ? <li>{t('policies.preview.first', { after: firstAfter, before: firstBefore ?? '–' })}</li> : null}
      </ul>
    </div>
  )
}
