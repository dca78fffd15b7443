// Replaces the texts of a message.

/**
 * Returns the message with each of its texts replaced by the result of `change`, or the same object if nothing changed.
 */
export function withTexts(message, change) {
  const { content } = message;
  if (typeof content === "string") {
    const text = change(content);
    return text === content ? message : { ...message, content: text };
  }
  if (!Array.isArray(content)) return message;
  const mapped = content.map((block) => {
    if (block?.type === "tool_result") return withTexts(block, change);
    if (typeof block?.text !== "string") return block;
    const text = change(block.text);
    return text === block.text ? block : { ...block, text };
  });
  return mapped.every((block, index) => block === content[index]) ? message : { ...message, content: mapped };
}
