import { useText } from '../../i18n/language'
import type { Authority, AuthorityCertificate } from '../../queries/authority'
import { useNow } from '../../ui/ago'
import { type Column, DataTable } from '../../ui/data_table'
import { StatePill } from '../../ui/state_pill'
import { Time } from '../../ui/zone'
import { endsSoon } from './rotation'

const uses = ['current', 'next', 'past'] as const

interface Trusted {
  use: (typeof uses)[number]
  certificate: AuthorityCertificate
}

/** The authorities that are trusted, the one that signs first. */
export function Certificates({ authority }: { authority: Authority }) {
  const t = useText()
  const now = useNow()
  const rows: Trusted[] = uses.flatMap((use) => {
    const certificate = authority[use]
    return certificate ? [{ use, certificate }] : []
  })
  const columns: Column<Trusted>[] = [
    { id: 'use', title: t('authority.use'), cell: (one) => <StatePill tone={one.use === 'current' ? 'good' : 'idle'}>{t(`authority.use.${one.use}`)}</StatePill>, csv: (one) => one.use },
    { id: 'common_name', title: t('authority.name'), cell: (one) => one.certificate.common_name, csv: (one) => one.certificate.common_name },
    { id: 'since', title: t('authority.since'), cell: (one) => <Time at={one.certificate.since} />, csv: (one) => one.certificate.since },
    { id: 'not_before', title: t('authority.valid_from'), cell: (one) => <Time at={one.certificate.not_before} />, csv: (one) => one.certificate.not_before },
    { id: 'not_after', title: t('authority.valid_until'), csv: (one) => one.certificate.not_after, cell: (one) => (
      <>
        <Time at={one.certificate.not_after} />
        {endsSoon(one.certificate.not_after, now) ? <> <StatePill tone="warn">{t('authority.ends_soon')}</StatePill></> : null}
      </>) },
    { id: 'sha256', title: t('authority.sha256'), isText: true, cell: (one) => <code>{one.certificate.sha256}</code>, csv: (one) => one.certificate.sha256 },
  ]
  return <DataTable isPlain name="authorities" label={t('authority.certificates')} columns={columns} rows={rows} rowKey={(one) => one.certificate.sha256} />
}
