import { Link } from '../../app/router/link'
import { pathTo } from '../../app/router/match'
import { useText } from '../../i18n/language'
import type { Authority, WaitingCenter } from '../../queries/authority'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { ServerText } from '../../ui/server_text'

/** Centers that the next step of a replacement would cut off now, each with the reason. */
export function WaitingCenters({ authority }: { authority: Authority }) {
  const t = useText()
  const rows = authority.waits_for
  const columns: Column<WaitingCenter>[] = [
    { id: 'center', title: t('authority.center'), csv: (one) => one.center_name,
      cell: (one) => <Link href={pathTo('/centers/:center', { center: one.center_name })}>{one.center_name}</Link> },
    { id: 'last_seen_at', title: t('authority.seen'), cell: (one) => <Ago at={one.last_seen_at} />, csv: (one) => one.last_seen_at },
    { id: 'agent_version', title: t('authority.agent'), cell: (one) => one.agent_version ?? nothing, csv: (one) => one.agent_version },
    { id: 'reason', title: t('authority.reason'), isText: true, cell: (one) => <ServerText>{one.reason}</ServerText>, csv: (one) => one.reason },
  ]
  if (rows.length === 0) return <p className="dim">{t('authority.waiting.none')}</p>
  return (
    <>
      {authority.waits_for_count > rows.length ? <p className="dim">{t('authority.waiting.cut', { n: rows.length, all: authority.waits_for_count })}</p> : null}
      <DataTable name="authority-waiting" label={t('authority.waiting')} columns={columns} rows={rows} rowKey={(one) => one.center_id} />
    </>
  )
}
