import { Button } from '@mantine/core'
import { useText } from '../../../i18n/language'
import { type EnrolmentToken, useEnrolmentTokens, useWithdrawEnrolmentToken } from '../../../queries/centers'
import { type Column, DataTable } from '../../../ui/data_table'
import { ErrorState, Ready } from '../../../ui/states'
import { useNow } from '../../../ui/ago'
import { Time } from '../../../ui/zone'

export function EnrolmentTokens() {
  const t = useText()
  const query = useEnrolmentTokens(true)
  const withdraw = useWithdrawEnrolmentToken()
  const now = useNow()
  const columns: Column<EnrolmentToken>[] = [
    { id: 'center', title: t('centers.name'), cell: (token) => token.center_name, csv: (token) => token.center_name },
    { id: 'expires', title: t('centers.tokens.expires'), cell: (token) => <Time at={token.expires_at} />, csv: (token) => token.expires_at },
    { id: 'used', title: t('centers.tokens.used'), cell: (token) => <Time at={token.used_at} />, csv: (token) => token.used_at },
    { id: 'act', title: t('centers.tokens.act'), cell: (token) => (token.used_at || Date.parse(token.expires_at) < now ? null : (
      <Button size="compact-xs" aria-label={t('centers.tokens.withdraw.of', { name: token.center_name })}
        onClick={() => withdraw.mutate(token.id)}>{t('centers.tokens.withdraw')}</Button>)) },
  ]
  return (
    <Ready query={query}>
      {withdraw.error ? <ErrorState error={withdraw.error} /> : null}
      <DataTable isPlain name="enrolment-tokens" label={t('centers.tokens')} columns={columns} rows={query.data?.items ?? []}
        rowKey={(token) => token.id} empty={<p className="dim">{t('centers.tokens.none')}</p>} />
    </Ready>
  )
}
