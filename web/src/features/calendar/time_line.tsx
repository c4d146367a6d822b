import { useText } from '../../i18n/language'
import { useNow } from '../../ui/ago'
import { formatTime } from '../../ui/format'
import { useZone } from '../../ui/zone'
import type { Entry } from './entries'
import { layOut, ticks } from './layout'
import styles from './time_line.module.css'

const laneHeight = 24

/** A row for each center. Bars are buttons: they open what they stand for. The tables below say the same in words. */
export function TimeLine({ centers, from, until, offsetMs, onOpen }: {
  centers: readonly [string, Entry[]][]
  from: number
  until: number
  offsetMs: number
  onOpen: (entry: Entry) => void
}) {
  const t = useText()
  const now = useNow()
  const marks = ticks(from, until, offsetMs)
  const isNowShown = now > from && now < until
  const nowLeft = `${((now - from) / (until - from)) * 100}%`
  const rows = centers.map(([center, entries]) => ({ center, ...layOut(entries, from, until) }))
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reachable by keyboard
    <div className={styles.frame} role="region" aria-label={t('calendar.line.label')} tabIndex={0}>
      <div className={styles.line}>
        <div className={styles.row}>
          <div className={styles.name} />
          <div className={styles.axis}>
            {marks.map((mark) => <span key={mark.at} className={styles.label} style={{ left: `${mark.left * 100}%` }}>{tickText(mark.at, mark.isDay, offsetMs)}</span>)}
          </div>
        </div>
        {rows.map((row) => (
          <div key={row.center} className={styles.row}>
            <div className={styles.name}>{row.center}</div>
            <div className={styles.track} style={{ height: row.lanes * laneHeight + 8 }}>
              {marks.map((mark) => <span key={mark.at} aria-hidden="true" className={styles.mark} style={{ left: `${mark.left * 100}%` }} />)}
              {isNowShown ? <span aria-hidden="true" className={styles.now} style={{ left: nowLeft }} /> : null}
              {row.placed.map(({ item, lane, left, width, isCutLeft, isCutRight }) => (
                <Bar key={item.id} entry={item} onOpen={onOpen} isCutLeft={isCutLeft} isCutRight={isCutRight}
                  style={{ left: `${left * 100}%`, width: `max(14px, ${width * 100}%)`, top: lane * laneHeight + 4, height: laneHeight - 4 }} />
              ))}
            </div>
          </div>
        ))}
      </div>
    </div>
  )
}

function tickText(at: number, isDay: boolean, offsetMs: number): string {
  const iso = new Date(at + offsetMs).toISOString()
  return isDay ? iso.slice(5, 10) : iso.slice(11, 16)
}

function Bar({ entry, style, isCutLeft, isCutRight, onOpen }: { entry: Entry; style: React.CSSProperties; isCutLeft: boolean; isCutRight: boolean; onOpen: (entry: Entry) => void }) {
  const t = useText()
  const { zone } = useZone()
  const { of } = entry
  const when = { from: formatTime(of.starts_at, zone), until: formatTime(of.ends_at, zone), state: t(`calendar.state.${of.state}`) }
  const text = entry.kind === 'reservation'
    ? t('calendar.bar.reservation', { ...when, project: entry.of.project, n: entry.of.unit_count, unit: entry.of.unit_type })
    : t('calendar.bar.maintenance', { ...when, what: entry.of.unit_type ?? entry.of.center, reason: entry.of.reason || '–' })
  const short = entry.kind === 'reservation' ? `${entry.of.project} ${entry.of.unit_count} × ${entry.of.unit_type}`
    : [t('calendar.maintenance'), entry.of.unit_type, entry.of.reason].filter(Boolean).join(' ')
  const shape = `${styles.bar} ${styles[entry.kind]} ${styles[of.state] ?? ''} ${isCutLeft ? styles.cutLeft : ''} ${isCutRight ? styles.cutRight : ''}`
  return <button type="button" className={shape} style={style} title={text} aria-label={`${short}. ${text}`} onClick={() => onOpen(entry)}>{short}</button>
}
