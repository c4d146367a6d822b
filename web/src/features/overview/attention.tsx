import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import { useCenters } from '../../queries/centers'
import { useOpenFindings } from '../../queries/findings'
import { useAdvisedUnitTypes } from '../../queries/unit_types'
import { useNow } from '../../ui/ago'
import { formatTime } from '../../ui/format'
import { ServerText } from '../../ui/server_text'
import { Ready } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { useZone } from '../../ui/zone'
import { type Alert, alertsOf } from './alerts'
import styles from './overview.module.css'

const fewAlerts = 12
// Drawing thousands of them takes seconds.
const alertsAtOnce = 200

/** What somebody should look at: the worst first, a few of them until more are asked for. */
export function Attention() {
  const t = useText()
  const centers = useCenters()
  const findings = useOpenFindings()
  // The server looks through all measurements for it: what matters more is asked for first.
  const units = useAdvisedUnitTypes(centers.data !== undefined && findings.data !== undefined)
  const now = useNow()
  const [most, setMost] = useState(fewAlerts)
  const alerts = alertsOf(centers.data ?? [], findings.data?.items ?? [], units.data ?? [], now)
  const rest = Math.max(0, alerts.length - most)
  return (
    <Ready query={findings}>
      {alerts.length === 0 ? <p className="dim">{t('overview.attention.none')}</p> : (
        <ul id="alerts" className={styles.alerts}>
          {alerts.slice(0, most).map((alert) => (
            <li key={alert.id}>
              <StatePill tone={alert.tone}><Link href={pathTo('/centers/:center', { center: alert.center })}>{alert.center}</Link></StatePill>
              <span><AlertText alert={alert} /></span>
            </li>
          ))}
        </ul>
      )}
      <div className={styles.more}>
        {alerts.length > fewAlerts ? (
          <Button size="compact-xs" aria-expanded={most > fewAlerts} aria-controls="alerts" onClick={() => setMost(rest > 0 ? most + alertsAtOnce : fewAlerts)}>
            {rest > 0 ? t('overview.attention.more', { n: rest }) : t('overview.attention.fewer', { n: fewAlerts })}
          </Button>
        ) : null}
        {findings.data?.next_page_token ? <Link href="/findings?open=open">{t('overview.attention.findings', { n: findings.data.items.length })}</Link> : null}
      </div>
    </Ready>
  )
}

/** What it is in the reader's language, then the server's words on it. */
function AlertText({ alert }: { alert: Alert }) {
  const t = useText()
  const { zone } = useZone()
  const { kind, values, said, finding } = alert
  const text = finding ? t('overview.attention.finding', { kind: t(`findings.kind.${finding}`) })
    : t(`overview.attention.${kind}`, kind === 'certificate' ? { time: formatTime(values.time, zone) } : values)
  return said ? <ServerText label={text}>{said}</ServerText> : text
}
