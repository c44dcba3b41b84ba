// The block in the editor. The server renders its content there, too.
((wp) => {
  const { createElement } = wp.element;
  wp.blocks.registerBlockType('identity-login/login', {
    edit: () =>
      createElement(
        'div',
        wp.blockEditor.useBlockProps(),
        createElement(wp.serverSideRender, { block: 'identity-login/login' }),
      ),
    save: () => null,
  });
})(window.wp);
