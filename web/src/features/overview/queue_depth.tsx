import { Link } from '../../app/router/link'
import { useLanguage } from '../../i18n/language'
import type { JobState } from '../../queries/jobs'
import { useQueueDepth } from '../../queries/queue'
import { formatNumber } from '../../ui/format'
import { Ready } from '../../ui/states'
import { JobStatePill } from '../jobs/job_state'
import { Bars } from './bars'

const open: readonly JobState[] = ['queued', 'metering', 'placed', 'dispatched', 'running', 'lost']

/** How many jobs are in each state that is no end; probes are among them. */
export function QueueDepth() {
  const { locale } = useLanguage()
  const query = useQueueDepth()
  const depth = query.data ?? {}
  const most = Math.max(1, ...open.map((state) => depth[state] ?? 0))
  return (
    <Ready query={query}>
      <Bars bars={open.map((state) => ({
        id: state, name: <Link href={`/jobs?label=all&state=${state}`}><JobStatePill state={state} /></Link>,
        value: depth[state] ?? 0, of: most, text: formatNumber(depth[state] ?? 0, locale),
      }))} />
    </Ready>
  )
}
