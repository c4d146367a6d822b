import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useSession } from '../../app/session'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { useOpenFindings } from '../../queries/findings'
import { useUnitTypes } from '../../queries/unit_types'
import { useNow } from '../../ui/ago'
import { formatTime } from '../../ui/format'
import { Page, Section } from '../../ui/page'
import { Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { useZone } from '../../ui/zone'
import { CentersTable } from '../centers/centers_table'
import { type Alert, alertsOf } from './alerts'
import { FirstRun } from './first_run'
import styles from './overview.module.css'
import { QueueDepth } from './queue_depth'
import { RecentPlacements } from './recent_placements'
import { UnitUse } from './unit_use'

export function OverviewPage() {
  const t = useText()
  const { may } = useSession()
  const centers = useCenters()
  return (
    <Page title={t('overview.title')}>
      <Ready query={centers}>
        {centers.data?.length === 0 ? <FirstRun /> : (
          <>
            <div className={styles.top}>
              <Section title={t('overview.centers')} side={<Link href="/centers">{t('overview.all')}</Link>}>
                <CentersTable centers={centers.data ?? []} isPlain />
              </Section>
              <Section title={t('overview.queue')} side={may('read_jobs') ? <Link href="/jobs">{t('overview.all.jobs')}</Link> : undefined}>
                <QueueDepth />
              </Section>
            </div>
            <div className={styles.top}>
              <Section title={t('overview.units')}><UnitUse /></Section>
              <Section title={t('overview.attention')}><Attention /></Section>
            </div>
            {may('read_jobs') ? <Section title={t('overview.placements')}><RecentPlacements /></Section> : null}
          </>
        )}
      </Ready>
    </Page>
  )
}

function Attention() {
  const t = useText()
  const { zone } = useZone()
  const centers = useCenters()
  const findings = useOpenFindings()
  const units = useUnitTypes()
  const now = useNow()
  const alerts = alertsOf(centers.data ?? [], findings.data?.items ?? [], units.data ?? [], now)
  const textOf = ({ kind, values }: Alert) =>
    t(`overview.attention.${kind}`, kind === 'certificate' ? { time: formatTime(values.time, zone) } : values)
  return (
    <Ready query={findings}>
      {alerts.length === 0 ? <p className="dim">{t('overview.attention.none')}</p> : (
        <ul className={styles.alerts}>
          {alerts.slice(0, 12).map((alert) => (
            <li key={alert.id}>
              <StatePill tone={alert.tone}><Link href={pathTo('/centers/:center', { center: alert.center })}>{alert.center}</Link></StatePill>
              <span>{textOf(alert)}</span>
            </li>
          ))}
        </ul>
      )}
    </Ready>
  )
}
