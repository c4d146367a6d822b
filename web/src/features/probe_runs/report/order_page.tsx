import type { PathParams } from '../../../app/router/match'
import { useText } from '../../../i18n/language'
import { Page } from '../../../ui/page'
import { OrderReport } from './order_report'

export function OrderPage({ params }: { params: PathParams }) {
  const t = useText()
  const id = params.id ?? ''
  return <Page title={t('runs.order', { id })}><OrderReport id={id} /></Page>
}
