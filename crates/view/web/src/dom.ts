// Parts of the page by their id.

export function part<T extends HTMLElement = HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page lacks #${id}`);
  return found as T;
}

export const input = (id: string) => part<HTMLInputElement>(id);
export const select = (id: string) => part<HTMLSelectElement>(id);

/** Makes an element with text. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  text = "",
  className = "",
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  made.textContent = text;
  made.className = className;
  return made;
}

/** Offers these choices, and keeps the one that was taken if it is still there. */
export function offer(list: HTMLSelectElement, choices: { value: string; text: string }[]): void {
  const same =
    list.options.length === choices.length &&
    choices.every((c, k) => list.options[k].value === c.value && list.options[k].text === c.text);
  if (same) return;
  const { value } = list;
  list.replaceChildren(
    ...choices.map((c) => {
      const option = make("option", c.text);
      option.value = c.value;
      return option;
    }),
  );
  if (choices.some((c) => c.value === value)) list.value = value;
}
