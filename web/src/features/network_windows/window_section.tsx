import { useText } from '../../i18n/language'
import type { NetworkWindow } from '../../queries/network_windows'
import { DataTable } from '../../ui/data_table'
import { formatDuration } from '../../ui/format'
import { Facts, Section } from '../../ui/page'
import { formatByteRate } from '../../ui/rates'
import { Time, useZone } from '../../ui/zone'
import { goodHoursText } from './good_hours_text'
import { offsetMinutes } from './week'
import { WeekMap } from './week_map'

/** One unit type's network: what is good when, and what changed. */
export function WindowSection({ window }: { window: NetworkWindow }) {
  const t = useText()
  const { zone } = useZone()
  const offsetMin = offsetMinutes(zone, window.hour_s)
  const best = window.best_window
  return (
    <Section title={`${window.center} / ${window.unit_type}`}>
      <Facts items={[
        [t('windows.good'), goodHoursText(window.good_hours, t, offsetMin)],
        [t('windows.now'), `${formatByteRate(window.now.rate_bytes)}, ${t(`windows.basis.${window.now.basis}`)}`],
        [t('windows.samples'), window.sample_count],
        [t('windows.newest'), <Time key="n" at={window.newest_at} />],
        ...(window.hour_s === 3600 ? [] : [[t('windows.hour'), formatDuration(window.hour_s)] as const]),
        ...(best === undefined ? [] : [[t('windows.best'), best === null ? t('windows.best.none') : (
          <span key="b"><Time at={best.start} /><br />{t('windows.best.takes', { s: formatDuration(best.transfer_s) })}
            {best.transfer_now_s === null ? null : `; ${t('windows.best.now', { s: formatDuration(best.transfer_now_s) })}`}</span>)] as const]),
      ]} />
      <div style={{ marginTop: 10 }}><WeekMap window={window} offsetMin={offsetMin} /></div>
      <h3 style={{ fontSize: 12, fontWeight: 600, margin: '12px 0 6px' }}>{t('windows.steps')}</h3>
      <DataTable isPlain name="network-steps" label={`${t('windows.steps')} ${window.center}/${window.unit_type}`} rows={[...window.steps].reverse()} rowKey={(s) => s.at}
        empty={<p className="dim">{t('windows.steps.none')}</p>} columns={[
          { id: 'at', title: t('windows.steps.at'), cell: (s) => <Time at={s.at} />, csv: (s) => s.at },
          { id: 'before', title: t('windows.steps.before'), isNumber: true, cell: (s) => formatByteRate(s.before_rate_bytes), csv: (s) => s.before_rate_bytes },
          { id: 'after', title: t('windows.steps.after'), isNumber: true, cell: (s) => formatByteRate(s.after_rate_bytes), csv: (s) => s.after_rate_bytes },
          { id: 'change', title: t('windows.steps.change'), isNumber: true, csv: (s) => s.after_rate_bytes / s.before_rate_bytes,
            cell: (s) => `${s.after_rate_bytes > s.before_rate_bytes ? '▲' : '▼'} × ${(s.after_rate_bytes / s.before_rate_bytes).toPrecision(3)}` },
        ]} />
    </Section>
  )
}
