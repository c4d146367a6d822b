import { Button } from '@mantine/core'
import { useState } from 'react'
import { Link } from '../../app/router/link'
import { useText } from '../../i18n/language'
import { type PriceBook, type PriceDocument, useSetPrices } from '../../queries/price_books'
import { ConfirmByTyping } from '../../ui/confirm_by_typing'
import { formatTime } from '../../ui/format'
import { MomentInput, toIso } from '../../ui/forms/moment_input'
import { useOrderKey } from '../../ui/forms/order_key'
import { ServerText } from '../../ui/server_text'
import { useZone } from '../../ui/zone'
import { comparePrices } from './diff'
import styles from './prices.module.css'

/** Puts a document in force, after its currency has been typed. */
export function SetPrices({ document, current }: { document: PriceDocument | null; current: PriceBook | null }) {
  const t = useText()
  const { zone } = useZone()
  const set = useSetPrices()
  const keyOf = useOrderKey()
  const [from, setFrom] = useState('')
  const [isAsking, setAsking] = useState(false)
  const fromIso = toIso(from, zone)
  const differences = document ? comparePrices(current?.document ?? null, document).length : 0
  return (
    <>
      <div className={styles.row}>
        <MomentInput label={t('prices.set.from')} hint={t('prices.set.from.hint')} value={from} onChange={setFrom} />
        <Button variant="filled" disabled={!document || (from !== '' && !fromIso)} onClick={() => {
          set.reset()
          setAsking(true)
        }}>{t('prices.set.do')}</Button>
      </div>
      {set.data ? (
        <div role="status">
          <p>{t(set.data.warnings.length ? 'prices.set.warnings' : 'prices.set.done', { n: set.data.version })}</p>
          {set.data.warnings.length ? <ul>{set.data.warnings.map((warning, i) => <li key={i}><code>{warning.field}</code>: <ServerText>{warning.detail}</ServerText></li>)}</ul> : null}
          <Link href={`/prices/${set.data.version}`}>{t('prices.set.open', { n: set.data.version })}</Link>
        </div>
      ) : null}
      {document && isAsking ? (
        <ConfirmByTyping opened title={t('prices.set')} target={document.currency} action={t('prices.set.confirm')} error={set.error} busy={set.isPending}
          onClose={() => setAsking(false)} onConfirm={() => {
            const order = { document, valid_from: fromIso }
            // Setting the same prices once more, after others were set meanwhile, is another order.
            set.mutate({ ...order, key: keyOf({ order, after: set.data?.version }) }, { onSuccess: () => setAsking(false) })
          }}>
          <p>{t('prices.set.what', { when: fromIso ? t('prices.set.then', { time: formatTime(fromIso, zone) }) : t('prices.set.now') })}</p>
          <p>{t('prices.set.changes', { n: differences })}</p>
        </ConfirmByTyping>
      ) : null}
    </>
  )
}
