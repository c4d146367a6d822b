import { Button, Textarea } from '@mantine/core'
import { useState } from 'react'
import { useSession } from '../../../app/session'
import { useText } from '../../../i18n/language'
import { type OperatorReview, useApproveOperator, useOperatorReviews, useReadReviewedPackage, useRejectOperator } from '../../../queries/operator_reviews'
import { saveFile } from '../../../ui/csv'
import { type Column, DataTable } from '../../../ui/data_table'
import { useFieldErrors } from '../../../ui/forms/field_errors'
import { FormDialog } from '../../../ui/forms/form_dialog'
import { useOrderKey } from '../../../ui/forms/order_key'
import { Section } from '../../../ui/page'
import { ErrorState } from '../../../ui/states'
import { Time } from '../../../ui/zone'
import measuring from '../../measuring/measuring.module.css'
import { mayUse } from './may_use'

/** What centers have submitted and nobody has decided on; nothing where nothing waits. */
export function OperatorReviews() {
  const t = useText()
  const query = useOperatorReviews()
  const [approving, setApproving] = useState<OperatorReview | null>(null)
  const [rejecting, setRejecting] = useState<OperatorReview | null>(null)
  const columns = useReviewColumns(setApproving, setRejecting)
  const reviews = query.items ?? []
  if (reviews.length === 0) return null
  return (
    <Section title={t('reviews.title')}>
      <p className={measuring.note}>{t('reviews.intro')}</p>
      <DataTable isPlain name="operator-reviews" label={t('reviews.title')} columns={columns} rows={reviews} rowKey={(review) => review.id} pages={query} />
      {approving ? <Approve review={approving} onClose={() => setApproving(null)} /> : null}
      {rejecting ? <Reject review={rejecting} onClose={() => setRejecting(null)} /> : null}
    </Section>
  )
}

function useReviewColumns(onApprove: (review: OperatorReview) => void, onReject: (review: OperatorReview) => void): Column<OperatorReview>[] {
  const t = useText()
  const { may } = useSession()
  return [
    { id: 'operator', title: t('operators.id'), cell: (r) => <code>{r.operator}</code>, csv: (r) => r.operator },
    { id: 'version', title: t('measure.version'), isNumber: true, cell: (r) => r.version, csv: (r) => r.version },
    { id: 'center', title: t('reviews.center'), cell: (r) => r.center, csv: (r) => r.center },
    { id: 'may', title: t('reviews.may'), cell: (r) => mayUse(t, r.manifest), csv: (r) => mayUse(t, r.manifest) },
    { id: 'at', title: t('reviews.at'), cell: (r) => <Time at={r.submitted_at} />, csv: (r) => r.submitted_at },
    { id: 'by', title: t('reviews.by'), cell: (r) => <code>{r.submitted_by}</code>, csv: (r) => r.submitted_by },
    { id: 'key', title: t('reviews.signed'), cell: (r) => <code>{r.key_id}</code>, csv: (r) => r.key_id },
    { id: 'acts', title: t('form.actions'), cell: (r) => (
      <span className={measuring.inline}>
        {may('read_uploads') ? <SavePackage review={r} /> : null}
        {may('manage_operator_keys') ? (
          <>
            <Button size="compact-xs" aria-label={`${t('reviews.approve')} ${r.operator}`} onClick={() => onApprove(r)}>{t('reviews.approve')}</Button>
            <Button size="compact-xs" aria-label={`${t('reviews.reject')} ${r.operator}`} onClick={() => onReject(r)}>{t('reviews.reject')}</Button>
          </>) : null}
      </span>) },
  ]
}

function SavePackage({ review }: { review: OperatorReview }) {
  const t = useText()
  const read = useReadReviewedPackage()
  return (
    <>
      <Button size="compact-xs" loading={read.isPending} onClick={() => read.mutate(review.id, { onSuccess: (value) =>
        saveFile(`${review.operator}-${review.version}.json`, JSON.stringify(value, null, 2), 'application/json') })}>{t('operators.package')}</Button>
      {read.error ? <ErrorState error={read.error} /> : null}
    </>
  )
}

function Approve({ review, onClose }: { review: OperatorReview; onClose: () => void }) {
  const t = useText()
  const approve = useApproveOperator()
  const keyOf = useOrderKey()
  return (
    <FormDialog title={t('reviews.approve.title', { n: review.version, id: review.operator })} action={t('reviews.approve.do')} error={approve.error} busy={approve.isPending}
      onClose={onClose} onSubmit={() => approve.mutate({ id: review.id, key: keyOf(review.id) }, { onSuccess: onClose })}>
      <p>{t('reviews.approve.what')}</p>
    </FormDialog>
  )
}

function Reject({ review, onClose }: { review: OperatorReview; onClose: () => void }) {
  const t = useText()
  const reject = useRejectOperator()
  const keyOf = useOrderKey()
  const [reason, setReason] = useState('')
  const errors = useFieldErrors(reject.error)
  return (
    <FormDialog title={t('reviews.reject.title', { n: review.version, id: review.operator })} action={t('reviews.reject.do')} error={reject.error} busy={reject.isPending}
      canSubmit={reason.trim() !== ''} onClose={onClose}
      onSubmit={() => reject.mutate({ id: review.id, reason: reason.trim(), key: keyOf([review.id, reason]) }, { onSuccess: onClose })}>
      <Textarea label={t('reviews.reject.reason')} description={t('reviews.reject.hint')} required data-autofocus rows={3} maxLength={1000} value={reason} error={errors.reason}
        onChange={(e) => setReason(e.currentTarget.value)} />
    </FormDialog>
  )
}
