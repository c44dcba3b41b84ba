/** Text of the OpenAPI document, which has paragraphs, and `code` in backticks. */
export function Prose({ text }: { text: string }) {
  return text.split(/\n+/).map((paragraph) => (
    <p key={paragraph}>
      <Words text={paragraph} />
    </p>
  ));
}

export function Words({ text }: { text: string }) {
  return text.split(/`([^`]+)`/).map((part, index) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text, which never changes
    index % 2 === 1 ? <code key={index}>{part}</code> : part,
  );
}

export function Sample({ value }: { value: unknown }) {
  return <pre className="sample">{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>;
}
