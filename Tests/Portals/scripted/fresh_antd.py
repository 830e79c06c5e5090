"""A hotel's page in Chinese in the manner of Ant Design: a list behind a transparent field, a space between the button's two characters."""

from lab import Scenario
from scripted.shell import *

GUEST, ERROR = {"room": "1208", "name": "王小明", "choice": "会议"}, "房间号与姓名不匹配"


class FreshAntd(Scripted):
    """The list opens when the pointer goes down, elsewhere in the page; its options for screen readers are beside those that are seen."""

    name, host, lang, title = "fresh-antd", "wifi.jinjiang-hotel.example", "zh-CN", "锦江酒店无线网络"
    bundle = "/umi.8d7fa1c2.js"
    scenarios = [
        Scenario("in", user=GUEST),
        Scenario("refused", "refused", GUEST | {"room": "9"}, text=ERROR),
        # The notice of the first try is still shown beside the success.
        Scenario("corrected", user=GUEST | {"room": "9"}, text=ERROR, corrected=GUEST),
    ]
    style = """.ant-select { position: relative; cursor: pointer; } .ant-select-selector { position: relative; display: flex;
border: 1px solid #d9d9d9;
padding: 0 11px; height: 32px; } .ant-select-selection-search { position: absolute; inset: 0 11px; } .ant-select-selection-search-input {
border: 0;
margin: 0; padding: 0; width: 100%; height: 30px; background: transparent; opacity: 0; cursor: pointer; }
.ant-select-selection-placeholder {
color: #bfbfbf; pointer-events: none; flex: 1; } .ant-select-dropdown { position: absolute; z-index: 1050; background: #fff; width: 300px; }
.ant-select-item { padding: 5px 12px; cursor: pointer; } .ant-checkbox { position: relative; display: inline-block; width: 16px;
height: 16px; }
.ant-checkbox-input { position: absolute; inset: 0; z-index: 1; width: 100%; height: 100%; margin: 0; opacity: 0; cursor: pointer; }
.ant-checkbox-inner { display: block; width: 16px; height: 16px; border: 1px solid #d9d9d9; } .ant-message { position: fixed; top: 8px;
left: 0;
width: 100%; z-index: 1010; pointer-events: none; text-align: center; }"""
    script = r"""
const item = (label, id, control) => `<div class="ant-form-item"><div class="ant-row ant-form-item-row">
  <div class="ant-col ant-form-item-label">
 <label for="${id}" class="ant-form-item-required" title="${label}">${label}</label></div><div class="ant-col ant-form-item-control">
 <div class="ant-form-item-control-input"><div class="ant-form-item-control-input-content">${control}</div></div></div></div></div>`;
const input = (id, hint) => `<span class="ant-input-affix-wrapper ant-input-affix-wrapper-lg"><span class="ant-input-prefix">
  <span role="img"
 aria-label="user" class="anticon anticon-user"><svg viewBox="64 64 896 896" width="1em" height="1em" aria-hidden="true"></svg></span>
   </span>
 <input placeholder="${hint}" id="${id}" aria-required="true" type="text" class="ant-input ant-input-lg" value=""></span>`;
$("#root").innerHTML = `<div class="login___2fYcz"><h2>欢迎使用酒店无线网络</h2><form id="basic" class="ant-form ant-form-vertical">
 ${item("房间号", "basic_room", input("basic_room", "请输入房间号"))}${item("姓名", "basic_name", input("basic_name", "请输入入住人姓名"))}
 ${item("入住目的", "basic_purpose", `<div class="ant-select ant-select-lg ant-select-single ant-select-show-arrow"><div
 class="ant-select-selector"><span class="ant-select-selection-search"><input type="search" autocomplete="off" id="basic_purpose"
 class="ant-select-selection-search-input" role="combobox" aria-haspopup="listbox" aria-expanded="false" aria-owns="basic_purpose_list"
 aria-autocomplete="list" aria-controls="basic_purpose_list" aria-required="true" readonly unselectable="on" value=""></span>
 <span class="ant-select-selection-placeholder">请选择</span></div><span class="ant-select-arrow" unselectable="on" aria-hidden="true"
 style="user-select: none;"></span></div>`)}
 <label class="ant-checkbox-wrapper"><span class="ant-checkbox"><input type="checkbox" id="basic_agree" class="ant-checkbox-input" value="">
 <span class="ant-checkbox-inner"></span></span><span>我已阅读并同意《用户协议》</span></label>
 <button type="submit" class="ant-btn ant-btn-primary ant-btn-lg ant-btn-block"><span>登 录</span></button></form></div>`;
let purpose = "", menu = null;
const list = $(".ant-select"), search = $("#basic_purpose");
const close = () => { if (menu) menu.style.display = "none"; search.setAttribute("aria-expanded", "false"); };
const toggle = () => {
  if (menu && menu.style.display !== "none") return close();
  search.setAttribute("aria-expanded", "true");
  if (menu) { menu.style.display = ""; return; }
  const names = ["旅游", "商务", "会议"];
  menu = h("div", {class: "ant-select-dropdown ant-select-dropdown-placement-bottomLeft"});
  menu.innerHTML = `<div><div role="listbox" id="basic_purpose_list" style="height: 0px; width: 0px; overflow: hidden;">${names.slice(0, 2)
    .map((name, n) => `<div aria-label="${name}" role="option" id="basic_purpose_list_${n}"
      aria-selected="false">${n}</div>`).join("")}</div>
    <div class="rc-virtual-list" style="position: relative;"><div class="rc-virtual-list-holder">
      <div class="rc-virtual-list-holder-inner">${names
    .map(name => `<div aria-selected="false" class="ant-select-item ant-select-item-option" title="${name}"><div
    class="ant-select-item-option-content">${name}</div><span class="ant-select-item-option-state" unselectable="on" aria-hidden="true">
      </span></div>`)
    .join("")}</div></div></div></div>`;
  menu.querySelectorAll(".ant-select-item").forEach(node => node.addEventListener("click", () => {
    purpose = node.title; close();
    const shown = $(".ant-select-selection-placeholder, .ant-select-selection-item");
    shown.className = "ant-select-selection-item"; shown.title = shown.textContent = purpose;
  }));
  const place = list.getBoundingClientRect();
  menu.style.left = place.left + "px"; menu.style.top = place.bottom + scrollY + "px";
  document.body.append(h("div", {style: "position: absolute; top: 0px; left: 0px; width: 100%;"}, h("div", {}, menu)));
};
list.addEventListener("mousedown", toggle);
document.addEventListener("mousedown", event => { if (menu && !list.contains(event.target) && !menu.contains(event.target)) close(); });
$("form").addEventListener("submit", async event => {
  event.preventDefault();
  const answer = await send("/api/portal/auth", {room: $("#basic_room").value, name: $("#basic_name").value, purpose,
    agree: $("#basic_agree").checked});
  if (answer.ok) return show(h("div", {class: "ant-result ant-result-success"}, h("div", {class: "ant-result-title"}, "认证成功,您已连接网络")));
  const message = h("div", {class: "ant-message"});
  message.innerHTML = `<div class="ant-message-notice"><div class="ant-message-notice-content"><div class="ant-message-custom-content
   ant-message-error"><span role="img" aria-label="close-circle" class="anticon"></span><span>${answer.error}</span></div></div></div>`;
  document.body.append(message);
  setTimeout(() => message.remove(), 3000);
});
"""

    def api(self, request):
        if request.path == "/api/portal/auth" and self.sends(request):
            value = request.json()
            if value.get("agree") is not True or value.get("purpose") not in ("旅游", "商务", "会议"):
                return refuse("请填写完整")
            return self.welcome() if (value.get("room"), value.get("name")) == ("1208", "王小明") else refuse(ERROR)
        return bad()
