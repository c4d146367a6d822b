import { Button, Group, Modal } from '@mantine/core'
import { useState } from 'react'
import { useText } from '../../../i18n/language'
import { type CenterResources, type CenterResourcesOrder, usePutCenterResources } from '../../../queries/center_resources'
import { JsonField } from '../../../ui/json_field'
import { parseJson } from '../../../ui/json_text'
import { ErrorState } from '../../../ui/states'
import { lineDifference } from './line_difference'

const textOf = (document: unknown) => JSON.stringify(document, null, 2)

/** The document, and before it is sent what would change. */
export function EditResources({ resources, onClose }: { resources: CenterResources; onClose: () => void }) {
  const t = useText()
  const before = textOf({ unit_types: resources.unit_types })
  const [text, setText] = useState(before)
  const put = usePutCenterResources()
  const parsed = parseJson(text)
  const after = parsed.ok ? textOf(parsed.value) : null
  function save() {
    // The server says field by field what is wrong with it.
    if (parsed.ok)
      put.mutate({ center: resources.center_id, version: resources.version, order: parsed.value as CenterResourcesOrder }, { onSuccess: onClose })
  }
  return (
    <Modal opened onClose={onClose} size="lg" title={t('centers.resources.edit.title', { name: resources.center })} closeButtonProps={{ 'aria-label': t('ui.close') }}>
      <JsonField label={t('centers.resources.document')} hint={t('centers.resources.document.hint')} value={text} onChange={setText} />
      {after !== null && after !== before ? <Preview before={before} after={after} /> : null}
      {put.error ? <ErrorState error={put.error} /> : null}
      <Group mt="md" gap="xs" justify="flex-end">
        <Button onClick={() => setText(textOf({ unit_types: [] }))}>{t('centers.resources.reset')}</Button>
        <Button onClick={onClose}>{t('ui.cancel')}</Button>
        <Button variant="filled" loading={put.isPending} disabled={after === null || after === before} onClick={save}>{t('centers.resources.save')}</Button>
      </Group>
    </Modal>
  )
}

function Preview({ before, after }: { before: string; after: string }) {
  const t = useText()
  const marks = { same: '  ', gone: '- ', new: '+ ' } as const
  return (
    <>
      <h3 style={{ fontSize: 13, fontWeight: 600, margin: '12px 0 4px' }}>{t('centers.resources.preview')}</h3>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre role="region" aria-label={t('centers.resources.preview')} tabIndex={0} style={{ maxHeight: 260, overflow: 'auto', fontSize: 12, margin: 0 }}>
        {lineDifference(before, after).map((line, i) => {
          const content = `${marks[line.kind]}${line.text}\n`
          if (line.kind === 'gone') return <del key={i}>{content}</del>
          return line.kind === 'new' ? <ins key={i}>{content}</ins> : <span key={i}>{content}</span>
        })}
      </pre>
    </>
  )
}
