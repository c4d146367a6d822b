import { useText } from '../../i18n/language'
import type { PlacementPreview, usePlacementPreview } from '../../queries/placement_preview'
import { formatDuration, formatMoney } from '../../ui/format'
import { ErrorState, LoadingState } from '../../ui/states'
import { CandidatesTable } from '../routing/candidates_table'

/** The candidates of the job as it is written now. */
export function PreviewPane({ query, isIdle }: { query: ReturnType<typeof usePlacementPreview>; isIdle: boolean }) {
  const t = useText()
  if (isIdle) return <p className="dim">{t('submit.preview.idle')}</p>
  if (query.isError) return <ErrorState error={query.error} />
  if (!query.data) return <LoadingState />
  return (
    <>
      <p role="status">{query.isFetching ? t('submit.preview.updating') : <Verdict preview={query.data} />}</p>
      <CandidatesTable decision={query.data.decision} />
    </>
  )
}

function Verdict({ preview: { decision, expected_cost: cost } }: { preview: PlacementPreview }) {
  const t = useText()
  const winner = decision.winner === null ? undefined : decision.candidates[decision.winner]
  if (!winner) return <>{t('submit.preview.none')}</>
  const place = `${winner.center} / ${winner.unit_type} × ${winner.unit_count}`
  const wait = winner.start_s ?? winner.wait_s
  return (
    <>
      {decision.can_start_now ? t('submit.preview.start', { place }) : t('submit.preview.wait', { place, wait: formatDuration(wait) })}
      {cost ? ` ${t('submit.preview.cost', { cost: formatMoney(winner.cost) })}` : ''}
    </>
  )
}
