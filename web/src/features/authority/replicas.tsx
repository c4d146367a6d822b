import { useText } from '../../i18n/language'
import type { Authority, Replica } from '../../queries/authority'
import { Ago } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { nothing } from '../../ui/format'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { notFollowing } from './rotation'

const tones = { follows: 'good', behind: 'busy', silent: 'warn' } as const

/** Which replicas of fathomd follow the last step of a replacement. */
export function Replicas({ authority }: { authority: Authority }) {
  const t = useText()
  const rows = authority.replicas
  const columns: Column<Replica>[] = [
    { id: 'host', title: t('authority.replica.host'), cell: (one) => one.host || nothing, csv: (one) => one.host },
    { id: 'id', title: t('authority.replica'), cell: (one) => <code>{one.id}</code>, csv: (one) => one.id },
    { id: 'version', title: t('authority.replica.version'), cell: (one) => one.version, csv: (one) => one.version },
    { id: 'state', title: t('authority.replica.state'), csv: (one) => one.state,
      cell: (one) => <StatePill tone={tones[one.state]}>{t(`authority.replica.state.${one.state}`)}</StatePill> },
    { id: 'trusted_since', title: t('authority.replica.since'), cell: (one) => <Time at={one.trusted_since} />, csv: (one) => one.trusted_since },
    { id: 'seen_at', title: t('authority.replica.seen'), cell: (one) => <Ago at={one.seen_at} />, csv: (one) => one.seen_at },
    { id: 'signer_sha256', title: t('authority.replica.signer'), isText: true, cell: (one) => <code>{one.signer_sha256}</code>, csv: (one) => one.signer_sha256 },
  ]
  if (rows.length === 0) return <p className="dim">{t('authority.replicas.none')}</p>
  const rest = notFollowing(authority)
  return (
    <>
      {rest > 0 ? <p role="status">{t('authority.replicas.behind', { n: rest, all: rows.length })}</p> : null}
      <DataTable name="authority-replicas" label={t('authority.replicas')} columns={columns} rows={rows} rowKey={(one) => one.id} />
    </>
  )
}
