import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../i18n/language'
import { type OperatorManifest, type OperatorOrder, useChangeOperator } from '../../queries/operator_library'
import type { Operator } from '../../queries/operators'
import { DiffTable } from '../../ui/diff_table'
import { diffJson } from '../../ui/json_diff'
import { JsonField } from '../../ui/json_field'
import { parseObject } from '../../ui/json_text'
import { ErrorState } from '../../ui/states'
import { manifestOf, parsePackage } from './manifest'

/** Makes an operator's next version: of what came with a release from a changed manifest, of what was uploaded from a package. */
export function ChangeOperator({ operator, onClose }: { operator: Operator; onClose: () => void }) {
  const t = useText()
  const isUploaded = operator.origin === 'uploaded'
  const [text, setText] = useState(isUploaded ? '' : JSON.stringify(manifestOf(operator), null, 2))
  const mutation = useChangeOperator()
  const document = parseObject(text)
  const signed = isUploaded ? parsePackage(text) : null
  const after = isUploaded ? (signed?.manifest ?? null) : document
  const differences = after ? diffJson(manifestOf(operator), after).filter((d) => d.path !== 'version' && (d.after !== undefined || d.before !== undefined)) : []
  const order: OperatorOrder | null = isUploaded ? (signed && { package: signed }) : document && { manifest: document as unknown as OperatorManifest }
  return (
    <Modal opened onClose={onClose} size="xl" title={t('operators.change.title', { id: operator.id })} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <JsonField label="JSON" hint={t(isUploaded ? 'operators.change.uploaded' : 'operators.change.hint')} value={text} onChange={setText} rows={16}
        {...(text.trim() && !order ? { error: t(isUploaded ? 'operators.upload.needs' : 'measure.json.object') } : {})} />
      <h2 style={{ marginTop: 12 }}>{t('operators.change.differs')}</h2>
      {differences.length === 0 ? <p className="dim">{t('operators.change.same', { n: operator.version })}</p> : (
        <DiffTable name="operator-change" label={t('operators.change.differs')} differences={differences}
          before={t('operators.diff.before', { n: operator.version })} after={t('operators.diff.before', { n: operator.version + 1 })} />)}
      {mutation.error ? <ErrorState error={mutation.error} /> : null}
      <Group mt="md" gap="xs" justify="flex-end">
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button variant="filled" disabled={!order || differences.length === 0} loading={mutation.isPending} onClick={() => {
          if (order) mutation.mutate({ id: operator.id, base: operator.version, order }, { onSuccess: onClose })
        }}>{t('operators.change.do', { n: operator.version + 1 })}</Button>
      </Group>
    </Modal>
  )
}
