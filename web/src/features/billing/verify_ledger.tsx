import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { errorOf } from '../../api/problem'
import { useText } from '../../i18n/language'
import { type LedgerCheck, useVerifyLedger } from '../../queries/billing'
import { Facts } from '../../ui/page'
import { ServerText } from '../../ui/server_text'
import { ErrorState } from '../../ui/states'
import { StatePill } from '../../ui/state_pill'
import { type ChainCheck, checkChain, linesOf } from './chain'

async function readChain(): Promise<ChainCheck> {
  const response = await fetch('/api/v1/exports/ledger', { credentials: 'same-origin' })
  if (!response.ok || !response.body) throw errorOf(response, await response.json().catch(() => null))
  return checkChain(linesOf(response.body))
}

/** Has the server check the ledger, and checks the chain of hashes here as well: neither side need be believed. */
export function VerifyLedger() {
  const t = useText()
  const server = useVerifyLedger()
  const here = useMutation({ mutationFn: readChain })
  const canHash = window.isSecureContext
  return (
    <>
      <p className="dim">{t('billing.ledger.verify.hint')}</p>
      <Button loading={server.isPending || here.isPending} onClick={() => {
        server.mutate()
        if (canHash) here.mutate()
      }}>{t('billing.ledger.verify.do')}</Button>
      <div aria-live="polite">
        {server.error ? <ErrorState error={server.error} /> : null}
        {here.error ? <ErrorState error={here.error} /> : null}
        {server.data ? <Outcome check={server.data} chain={here.data ?? null} canHash={canHash} /> : null}
      </div>
    </>
  )
}

function Outcome({ check, chain, canHash }: { check: LedgerCheck; chain: ChainCheck | null; canHash: boolean }) {
  const t = useText()
  return (
    <>
      <Facts items={[
        [t('billing.ledger.server'), <StatePill key="s" tone={check.good ? 'good' : 'bad'}>{check.good ? t('billing.ledger.good') : t('billing.ledger.bad', { n: check.faults.length })}</StatePill>],
        [t('billing.ledger.here'), !canHash ? t('billing.ledger.here.unsafe') : !chain ? null : (
          <StatePill key="h" tone={chain.brokenAt === null ? 'good' : 'bad'}>
            {chain.brokenAt === null ? t('billing.ledger.here.good', { n: chain.entries }) : t('billing.ledger.here.bad', { n: chain.brokenAt })}
          </StatePill>
        )],
        [t('billing.ledger.entries'), check.entries], [t('billing.ledger.charges'), check.charges], [t('billing.ledger.records'), check.usage_records],
        [t('billing.ledger.unrated'), check.unrated], [t('billing.ledger.head'), <code key="c">{check.head_sha256}</code>],
      ]} />
      {check.faults.length > 0 ? <ul>{check.faults.map((fault) => <li key={fault}><ServerText>{fault}</ServerText></li>)}</ul> : null}
    </>
  )
}
