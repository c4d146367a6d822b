import { Button } from '@mantine/core'
import { useState } from 'react'
import { idempotencyKey } from '../../../api/client'
import { useFilters } from '../../../app/router/search'
import { useText } from '../../../i18n/language'
import { type ProbeRunItems, useMeasure } from '../../../queries/probe_runs'
import { DataTable } from '../../../ui/data_table'
import { Page, Section } from '../../../ui/page'
import { ServerText } from '../../../ui/server_text'
import { ErrorState } from '../../../ui/states'
import { emptyDraft, type OrderDraft, toOrder } from '../order/order_draft'
import { OrderForm } from '../order/order_form'
import { OrderReport } from '../report/order_report'

/** The form as a link fills it: an operator, or a probe task. */
function startOf(filters: { operator: string; task: string; center: string }): OrderDraft {
  return {
    ...emptyDraft,
    ...(filters.operator ? { operators: [{ id: filters.operator, parameters: {}, count: '1' }] } : {}),
    ...(filters.task ? { what: 'task' as const, task: filters.task } : {}),
    ...(filters.center ? { centers: [filters.center] } : {}),
  }
}

/** Measures at once: an order, then its runs as they go and their results side by side. */
export function MeasurePage() {
  const t = useText()
  const [filters, change] = useFilters(['operator', 'task', 'center', 'order'])
  const [draft, setDraft] = useState(() => startOf(filters))
  const [isTried, setTried] = useState(false)
  const [leftOut, setLeftOut] = useState<ProbeRunItems['left_out']>([])
  // One key for one order: a click that is repeated, or an answer that got lost, measures nothing twice.
  const [key, setKey] = useState(idempotencyKey)
  const measure = useMeasure()
  const { order, wrong } = toOrder(draft)

  function submit() {
    setTried(true)
    if (!order) return
    measure.mutate({ order, key }, {
      onSuccess: (made) => {
        setLeftOut(made.left_out)
        change({ order: made.items[0]?.order_id ?? '' })
        setKey(idempotencyKey())
      },
    })
  }

  if (filters.order) {
    return (
      <Page title={t('runs.measure')} actions={<Button onClick={() => {
        setLeftOut([])
        change({ order: '' })
      }}>{t('runs.measure.again')}</Button>}>
        {leftOut.length > 0 ? (
          <Section title={t('runs.left_out')}>
            <DataTable isPlain name="left-out" label={t('runs.left_out')} rows={leftOut} rowKey={(one) => one.place + one.reason} columns={[
              { id: 'place', title: t('runs.left_out.place'), cell: (one) => one.place, csv: (one) => one.place },
              { id: 'reason', title: t('runs.left_out.reason'), isText: true, cell: (one) => <ServerText>{one.reason}</ServerText>, csv: (one) => one.reason },
            ]} />
          </Section>
        ) : null}
        <OrderReport id={filters.order} />
      </Page>
    )
  }
  return (
    <Page title={t('runs.measure')}>
      <form onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}>
        <OrderForm draft={draft} wrong={isTried ? wrong : {}} onChange={(next) => {
          setDraft(next)
          setKey(idempotencyKey())
        }} />
        {measure.error ? <div style={{ marginTop: 12 }}><ErrorState error={measure.error} /></div> : null}
        <Button type="submit" variant="filled" mt="md" loading={measure.isPending}>{t('runs.measure.do')}</Button>
      </form>
    </Page>
  )
}
